"""Why a cause is as likely as it is, in words."""

from rlclinic.model.explanation import Explanation, Piece
from rlclinic.reports.explanation import explanation_text


def test_a_cause_is_told_as_likely_as_the_diagnosis_tells_it() -> None:
    found = Explanation("gradient-explosion", 0.9991, -4.0, (Piece("finding", "OPT01 loss-diverges", 8.0),), 1.0, -4.0)
    first, *_ = explanation_text(found).splitlines()
    assert first == "gradient-explosion: over 99%"
