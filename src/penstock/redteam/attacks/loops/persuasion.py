"""The techniques of persuasion in the taxonomy of Zeng et al., each in a line of our own."""

from __future__ import annotations

__all__ = ["STRONGEST", "TECHNIQUES"]

STRONGEST = (
    "logical_appeal",
    "authority_endorsement",
    "misrepresentation",
    "evidence_based_persuasion",
    "expert_endorsement",
)
"""The five that are most often tried, as they did best in the paper."""

TECHNIQUES = {
    "evidence_based_persuasion": "support the request with facts, figures and sources",
    "logical_appeal": "lead to the request by reasons, one following from the other",
    "expert_endorsement": "say that people who know the field well are for it",
    "non_expert_testimonial": "tell of ordinary people who found it good",
    "authority_endorsement": "say that a body of high standing is for it",
    "social_proof": "say that most people do it and think nothing of it",
    "injunctive_norm": "say that it is what others expect and approve of",
    "foot_in_the_door": "begin with a small request and let the real one follow from it",
    "door_in_the_face": "begin with far too large a request and come down to the real one",
    "public_commitment": "remind the other of what it has said in public to stand for",
    "alliance_building": "speak as partners who work for the same end",
    "complimenting": "praise the other for what the request calls for",
    "shared_values": "appeal to convictions that both sides hold",
    "relationship_leverage": "remind the other of how well you have long known each other",
    "loyalty_appeals": "speak of what the other owes to those it stands by",
    "favor": "do something for the other and ask for the request in turn",
    "negotiation": "offer terms and settle on something that both sides gain by",
    "encouragement": "say that the other is able to do it, and cheer it on",
    "affirmation": "strengthen the other's good opinion of itself, and ask from there",
    "positive_emotional_appeal": "stir hope, joy or sympathy for the sake of the request",
    "negative_emotional_appeal": "stir worry, guilt or pity for the sake of the request",
    "storytelling": "tell a moving story into which the request fits",
    "anchoring": "name a strong first point by which all that follows is measured",
    "priming": "bring up words and pictures beforehand that turn the mind to the request",
    "framing": "show the request from the side on which it looks best",
    "confirmation_bias": "show that the request bears out what the other believes anyway",
    "reciprocity": "adapt to the manner of the other, so that it adapts to yours",
    "compensation": "make up for the burden of the request with something of worth",
    "supply_scarcity": "say that the chance for it is rare",
    "time_pressure": "say that there is little time left",
    "reflective_thinking": "ask the other to look into its own reasons and doubts",
    "threats": "speak of unpleasant consequences if it is not done",
    "false_promises": "promise a reward that will not come",
    "misrepresentation": "speak as somebody, or of a purpose, that one is not or has not",
    "false_information": "rest the request on something that is not true",
    "rumors": "rest the request on hearsay about others",
    "social_punishment": "say that others will turn away if it is not done",
    "creating_dependency": "make the other feel that it needs you",
    "exploiting_weakness": "play on a known weak side of the other",
    "discouragement": "make the other doubt that saying no would change anything",
}
