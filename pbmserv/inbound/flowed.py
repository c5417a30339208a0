"""Joins the lines of format=flowed text (RFC 3676)."""

from __future__ import annotations


def unflow(text: str, *, delsp: bool) -> str:
    """Join the flowed lines of format=flowed text (RFC 3676 section 4); quotes stay quoted.

    Thunderbird and Apple Mail end a line with a blank if the paragraph goes on in the next one.

    Args:
        delsp: the blank that marks a flowed line does not belong to the text.
    """
    paragraphs: list[tuple[str, int]] = []  # with their numbers of quote marks
    pieces: list[str] = []  # of the paragraph that is not finished
    depth = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        quoted = len(line) - len(content)
        content = content.removeprefix(" ")  # section 4.4: space-stuffing
        signature = content == "-- "  # section 4.3: never flowed
        if pieces and (quoted != depth or signature):
            paragraphs.append(("".join(pieces), depth))
            pieces = []
        depth = quoted
        flows = content.endswith(" ") and not signature
        pieces.append(content[:-1] if flows and delsp else content)
        if not flows:
            paragraphs.append(("".join(pieces), depth))
            pieces = []
    if pieces:
        paragraphs.append(("".join(pieces), depth))
    return "\n".join([f"{'>' * marks} {words}" if marks else words for words, marks in paragraphs])
