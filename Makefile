# Everything a newcomer types. `make search` and `make test` need python3 and g++, no more.

PYTHON ?= python3
SEARCH_ARGS ?= exp --interval 1,2 --bits 45
SEARCH_OUTPUT ?= build/exp.csv
CUDA_ARCH ?= sm_90

bin := .venv/bin
stamp := .venv/installed

.PHONY: help venv search test lint format types docs kernels sanitize dist clean

help:
	@echo "make search    find hard-to-round cases: SEARCH_ARGS='$(SEARCH_ARGS)'"
	@echo "make test      run the tests"
	@echo "make lint      ruff: rules and layout"
	@echo "make types     mypy --strict over every Python file"
	@echo "make docs      write docs/commands.md, build the site of docs/ into build/site"
	@echo "make kernels   compile the device kernels with nvcc, for CUDA_ARCH=$(CUDA_ARCH)"
	@echo "make sanitize  run the kernel tests on the CPU under ASan and UBSan"
	@echo "make dist      build wheel and sdist into build/dist"
	@echo "make clean     remove .venv and build"

venv: $(stamp)

$(stamp): pyproject.toml
	$(PYTHON) -m venv .venv
	$(bin)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

search: venv
	@mkdir -p $(dir $(SEARCH_OUTPUT))
	$(bin)/hrcase search $(SEARCH_ARGS) --output $(SEARCH_OUTPUT)
	@echo "the list stands in $(SEARCH_OUTPUT) and begins:"
	@head -n 6 $(SEARCH_OUTPUT)

test: venv
	$(bin)/python -m pytest -q -n auto --dist worksteal

lint: venv
	$(bin)/ruff check .
	$(bin)/ruff format --check .

format: venv
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

types: venv
	.ci/types $(bin)/python

docs: venv
	@mkdir -p build
	$(bin)/python .ci/commands.py > build/commands.md
	mv build/commands.md docs/commands.md
	$(bin)/mkdocs build --strict --quiet -f .ci/mkdocs.yml

kernels: venv
	$(bin)/python .ci/compile_kernels.py $(CUDA_ARCH)

# libasan must be the first library of the process; Python itself leaks by design. The last line
# fails when the kernels that the tests ran were not built under ASan.
sanitize: venv
	rm -rf build/sanitize
	HRCASE_CACHE=$(CURDIR)/build/sanitize PYTHONPATH=.ci \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so)" ASAN_OPTIONS=detect_leaks=0 \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	$(bin)/python -m pytest -q -n auto --dist worksteal -p sanitized_kernels \
	-p no:cacheprovider tests/test_kernels.py
	grep -q __asan_init build/sanitize/*.so

dist: venv
	$(bin)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf build/dist
	$(bin)/python -m build --quiet --outdir build/dist

clean:
	rm -rf .venv build
