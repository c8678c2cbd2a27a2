"""`python -m hrcase.cli`: the program, where its script is not on the PATH."""

from hrcase.cli.main import main

main()
