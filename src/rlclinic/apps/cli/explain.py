"""`rlclinic explain`: what a rule sees, what a probe does, what a cause means, or why it is likely in a run."""

from __future__ import annotations

from textwrap import fill

import click

from rlclinic.apps.cli.output import write, write_json
from rlclinic.apps.cli.reading import goal_option
from rlclinic.model.errors import UsageError

WIDTH = 100


@click.command()
@click.argument("name", metavar="[CODE|RULE|PROBE|CAUSE|RUN]", required=False)
@click.option("--why", metavar="CAUSE", help="Print the pieces that make up the probability of this cause in RUN.")
@goal_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(name: str | None, why: str | None, goal: float | None, as_json: bool) -> None:
    """Explain a rule or a probe by its code or name, or a cause by its id; without a name, list them all.

    With --why NAME is a run (@last by default), and what is explained is how likely that cause is in it: natural
    logarithms of the prior and of each piece of evidence, which sum to the logarithm of the probability.
    """
    if why is not None:
        _explains_probability(name or "@last", why, goal, as_json=as_json)
        return
    from rlclinic.causes.catalogue import catalogue
    from rlclinic.causes.explain import cause_page
    from rlclinic.probes.ladder import LADDER
    from rlclinic.rules.documentation import find_rule, page_of
    from rlclinic.rules.registry import RULES

    if name is None:
        rules = [{"code": row.code, "name": row.name, "family": row.family, "title": row.title} for row in RULES]
        causes = [
            {"id": c.id, "class": c.cause_class, "kind": c.kind, "meaning": c.meaning} for c in catalogue().values()
        ]
        probes = [{"code": item.code, "name": item.name, "title": item.title} for item in LADDER]
        if as_json:
            write_json({"schema": "rlclinic.explain/1", "rules": rules, "causes": causes, "probes": probes})
            return
        lines = [f"{rule['code']}  {rule['name']}: {rule['title']}" for rule in rules]
        lines += ["", *(f"{item['code']}  {item['name']}: {item['title']}" for item in probes)]
        write("\n".join([*lines, "", *(f"{cause['id']}: {cause['meaning']}" for cause in causes)]) + "\n")
        return
    row = find_rule(name)
    if row is not None:
        page = page_of(row)
        values = row.limits
        if as_json:
            write_json({"schema": "rlclinic.explain/1", "rule": {**_fields(page), "thresholds": values}})
            return
        body = [fill(f"{head}: {text}", WIDTH, subsequent_indent="  ") for head, text in page.sections.items()]
        settings = ", ".join(f"{key} = {value:g}" for key, value in values.items())
        write(
            "\n\n".join([f"{page.code} {page.name}\n{page.title}", *body, f"Thresholds: {settings or 'none'}"]) + "\n"
        )
        return
    if _explains_probe(name, as_json=as_json):
        return
    entry = catalogue().get(name)
    if entry is None:
        raise UsageError(
            f"no rule, probe or cause is called {name!r}", hint="`rlclinic explain` without a name lists them"
        )
    page_text = cause_page(entry)
    if as_json:
        write_json({"schema": "rlclinic.explain/1", "cause": page_text})
        return
    lines = [f"{entry.id} ({entry.kind}, class {entry.cause_class})", entry.meaning]
    lines += [f"{head}: {text}" for head, text in page_text["speaks"].items()]
    write("\n\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines) + "\n")


def _explains_probability(run: str, cause: str, goal: float | None, *, as_json: bool) -> None:
    from rlclinic.engine import why
    from rlclinic.reports.explanation import explanation_object, explanation_text

    found = why(run, cause, goal=goal)
    if as_json:
        write_json(explanation_object(found))
    else:
        write(explanation_text(found))


def _explains_probe(name: str, *, as_json: bool) -> bool:
    """Explain a probe of the ladder; False where none is called so."""
    from rlclinic.probes.documentation import page_of
    from rlclinic.probes.ladder import find_probe

    probe = find_probe(name)
    if probe is None:
        return False
    page = page_of(probe)
    if as_json:
        fields = ("code", "name", "title", "alias", "components", "after", "sections", "cases")
        write_json({"schema": "rlclinic.explain/1", "probe": {key: getattr(page, key) for key in fields}})
        return True
    body = [fill(f"{head}: {text}", WIDTH, subsequent_indent="  ") for head, text in page.sections.items()]
    cases = fill(f"Cases and budgets: {'; '.join(page.cases)}", WIDTH, subsequent_indent="  ")
    write("\n\n".join([f"{page.code} {page.name}\n{page.title}", *body, cases]) + "\n")
    return True


def _fields(page: object) -> dict[str, object]:
    return {key: getattr(page, key) for key in ("code", "name", "family", "title", "sections")}
