"""Three posts to newsgroups, which the demonstration classifies: two of its classes, and one of none.

They are whole posts with headers, as the training documents are. A bare sentence would be rejected, whatever it is
about: nothing that the model was trained on looks like it.
"""

from __future__ import annotations

_POST = """\
From: {author}
Subject: {subject}
Organization: {organization}
Lines: {lines}

{body}
"""


def _post(author: str, subject: str, organization: str, body: str) -> str:
    lines = body.count("\n") + 1
    return _POST.format(author=author, subject=subject, organization=organization, lines=lines, body=body)


#: By their subject.
POSTS: dict[str, str] = {
    "antibiotics and pain": _post(
        "anna@cs.example.edu (Anna Berg)",
        "antibiotics and pain",
        "University of Example",
        "My doctor prescribed an antibiotic for the infection two weeks ago, and at first\n"
        "it seemed to help. Now the pain and the other symptoms are back. Has anybody\n"
        "here had the same? I wonder whether another drug would be better, or whether I\n"
        "should see a specialist. My doctor says to wait.\n\nThanks,\nAnna",
    ),
    "Program Manager crashes": _post(
        "tom@sun.example.com (Tom Hill)",
        "Program Manager crashes",
        "Example Systems",
        "Since the upgrade to Windows 3.1 my machine crashes whenever I open a file from\n"
        "the Program Manager. I have 4 MB of memory and DOS 5.0. Does anybody know which\n"
        "driver could be the cause? Please send me mail, I will post a summary.\n\nTom",
    ),
    "what a final": _post(
        "kim@uni.example.edu (Kim Lane)",
        "what a final",
        "Example State University",
        "The home team scored twice in the last ten minutes and won the cup final. I have\n"
        "never seen such a game: the goalie stopped everything for an hour, and then two\n"
        "shots went in. Who would have bet on them in the first round? On to the next\n"
        "season.\n\nKim",
    ),
}
