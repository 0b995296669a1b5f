"""`python -m studies study`, `league` or `datasets`, from the root of the repository."""

from calibrant.cli.exit import ended_well
from studies.cli.app import app

if __name__ == "__main__":
    with ended_well():
        app(prog_name="python -m studies")
