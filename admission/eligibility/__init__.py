"""What may count as evidence: nothing recalled or echoed, no order to the judge, and users only for their own minds."""

from admission.eligibility.mentions import only_mentions
from admission.eligibility.orders import poses
from admission.eligibility.spans import NEVER_EVIDENCE, Recalled, eligible_spans, introduced_names
from admission.eligibility.speakers import admissible, may_support, stands_alone
from admission.eligibility.subjects import ClaimAbout, attributed_to_assistant, claim_about

__all__ = [
    "NEVER_EVIDENCE", "ClaimAbout", "Recalled", "admissible", "attributed_to_assistant", "claim_about",
    "eligible_spans", "introduced_names", "may_support", "only_mentions", "poses", "stands_alone",
]  # fmt: skip
