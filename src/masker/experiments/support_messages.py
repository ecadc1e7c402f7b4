"""Twenty-four messages to a shop's support, six of each class: the everyday case of the demonstration."""

from __future__ import annotations

from masker.documents import Documents

MESSAGES: dict[str, tuple[str, ...]] = {
    "delivery": (
        "Where is my parcel?",
        "The tracking page has not moved for a week.",
        "My order should have been here on Monday.",
        "The courier left the box with the wrong neighbour.",
        "Can you send it to my office instead of my home?",
        "It says delivered, but nothing has arrived.",
    ),
    "refund": (
        "I want my money back.",
        "You charged my card twice for the same order.",
        "I returned the shoes two weeks ago and got no refund.",
        "How long does it take until the money is on my account?",
        "Please cancel the order and pay back what I paid.",
        "The discount was not taken off my bill.",
    ),
    "account": (
        "I forgot my password.",
        "The code to sign in never reaches my phone.",
        "Your site says that my account is locked.",
        "How do I change the e-mail address of my profile?",
        "I cannot log in since the update.",
        "Please delete my account and all my data.",
    ),
    "product": (
        "Does this jacket come in a larger size?",
        "Is the lamp still in stock?",
        "What is the table made of?",
        "Does the charger fit the older model, too?",
        "How many litres does the backpack hold?",
        "Is there a version without a zip?",
    ),
}
#: What the trained model is asked: two messages of its classes, and one that belongs to none.
QUESTIONS = (
    "The package still has not come.",
    "I can't get into my account any more.",
    "How do I bake sourdough bread?",
)


def support_messages() -> Documents:
    """The messages as labelled documents."""
    rows = [(text, label) for label, texts in MESSAGES.items() for text in texts]
    return Documents([text for text, _ in rows], None, [label for _, label in rows], "support messages")
