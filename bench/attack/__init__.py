"""The attack that can be repeated: bombs, planted secrets and code, races, kills, full disks: `make attack`."""
