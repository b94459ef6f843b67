"""Tables in Markdown."""


def table(header, rows):
    """The first column is text, the others are aligned to the right."""
    def line(cells):
        return "| " + " | ".join(str(cell) for cell in cells) + " |"

    return "\n".join([line(header), "|---|" + "---:|" * (len(header) - 1), *(line(row) for row in rows)])
