"""`python -m rlclinic` is the same as `rlclinic`."""

from rlclinic.apps.cli import main

main()
