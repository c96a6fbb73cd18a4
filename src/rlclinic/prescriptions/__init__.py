"""Causes in, exact and valid changes out; the folders are the steps.

An `assessment` of the run and the `remedies` of its causes become `proposals`, held up by `checks`, put in order by
`ranking` and written in the user's own `syntax`; `edit` makes the change in the user's file.
"""
