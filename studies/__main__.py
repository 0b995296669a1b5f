"""`python -m studies study`, `league` or `datasets`, from the root of the repository."""

from calibrant.cli.exit import clean_exit
from studies.cli.app import app

if __name__ == "__main__":
    with clean_exit():
        app(prog_name="python -m studies")
