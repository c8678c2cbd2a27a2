"""hrcase resume: go on with a job."""

from pathlib import Path
from typing import Any

import click

from hrcase.cli.work import Means, means_options, resume_job


@click.command(name="resume")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@means_options
def command(directory: Path, **means: Any) -> None:
    """Go on with the job in DIR until it is complete.

    Another device, method or number of threads than before is fine: none of them changes the
    result. All that the job holds is checked first. Ctrl-C or SIGTERM stop it with everything kept.
    """
    resume_job(directory, Means(**means))
