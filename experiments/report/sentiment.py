"""Table 3: accuracy and F1 of the models of sentiment, and what a field thinks of the words of a sentence."""

from . import chart, markdown, paper

OPINIONS = ["none", "positive", "negative"]
DRAWN = "CRF-Emb-LSTM"  # as in the paper


def runs(lines, model):
    """Those of the longest training that is there."""
    found = [line for line in lines.where(model=model) if "epochs" in line]
    longest = max((line["epochs"] for line in found), default=0)
    return [line for line in found if line["epochs"] == longest]


def spread(lines, model, key):
    """The mean over the seeds, and the least and the greatest."""
    values = [line[key] for line in runs(lines, model)]
    if not values:
        return None
    return sum(values) / len(values), min(values), max(values)


def cell(found):
    return "–" if found is None else f"{found[0]:.3f} ({found[1]:.3f} to {found[2]:.3f})"


def table(lines):
    rows = []
    base = spread(lines, "LSTM-Final", "accuracy")
    for model, (accuracy, f1) in paper.SENTIMENT.items():
        ours = spread(lines, model, "accuracy")
        distance = f"{ours[0] - base[0]:+.3f}" if ours and base else "–"
        rows.append([model, len(runs(lines, model)), f"{accuracy:.3f}", cell(ours), f"{accuracy - paper.SENTIMENT['LSTM-Final'][0]:+.3f}", distance,
                     f"{f1:.3f}", cell(spread(lines, model, "f1"))])  # fmt: skip
    header = ["model", "seeds", "accuracy: paper", "Plated, mean and range", "from LSTM-Final: paper", "Plated", "F1: paper", "Plated, mean and range"]
    return markdown.table(header, rows)


def remarks(lines):
    yield ("Accuracy over flat examples whose opinion is not none, and F1 over sentences and locations that have one, on test, of the epoch of the best accuracy on dev. "
           "The fields are summed by `plated::torch::einsum(\"btz,btyz->by\")`, words are a plate of unequal lengths.")  # fmt: skip
    checks = lines.where(model="always-positive")
    if checks:
        check = checks[-1]
        yield (f"The paper's GloVe vectors (840B, 300 numbers) could not be had; those of 6B with 100 numbers cover {100 * check['covered']:.1f} % of the tokens. So "
               "what is to be compared is the order of the models and their distance to LSTM-Final, not the figures themselves. Check of the scores: always positive gives accuracy "
               f"{check['accuracy']:.4f} and F1 {check['f1']:.4f}.")  # fmt: skip
    if runs(lines, DRAWN):
        yield ("In the figure, z is what a word's own label is, not yet what it says of the sentence: F_t(y, z), which the LSTM gives, couples the two, and may turn a label round. So a "
               "word such as \"convenient\" after \"not too\" may be positive in a sentence that is negative.")  # fmt: skip
    epochs = sorted({line["epochs"] for line in lines.all if "epochs" in line})
    if epochs:
        yield f"Epochs of the runs that are there: {', '.join(map(str, epochs))}; the paper has 1000."


def figure(lines):
    """The paper's word figure: the opinion of each word given that the sentence's is negative."""
    found = runs(lines, DRAWN)
    if not found:
        return None
    line = max(found, key=lambda one: one["dev_accuracy"])
    left, top, width, height = 90, 76, 78, 40
    parts = [chart.text(left, 48, "p(z of the word | sentence is negative), aspect transit-location of location1", 12, "start", chart.FAINT)]
    for row, opinion in enumerate(OPINIONS):
        parts.append(chart.text(left - 8, top + row * height + 25, opinion, 12, "end"))
    for column, (word, chances) in enumerate(zip(line["words"], line["word_opinions"])):
        parts.append(chart.text(left + (column + 0.5) * width, top - 8, word, 12))
        for row, chance in enumerate(chances):
            shade = "#" + "".join(f"{round(255 - chance * (255 - dark)):02x}" for dark in (31, 95, 168))
            parts.append(f'<rect x="{left + column * width}" y="{top + row * height}" width="{width}" height="{height}" fill="{shade}" stroke="white"/>')
            parts.append(chart.text(left + (column + 0.5) * width, top + row * height + 25, f"{chance:.2f}", 12,
                                    fill="white" if chance > 0.55 else chart.INK))  # fmt: skip
    title = f"{DRAWN}, seed {line['seed']}: opinions of words"
    return chart.document(left + width * len(line["words"]) + 20, top + 3 * height + 20, title, parts)


def as_json(lines):
    return [{"model": model, "paper": dict(zip(("accuracy", "f1"), figures)),
             "runs": [{key: line[key] for key in ("seed", "epochs", "accuracy", "f1", "dev_accuracy", "seconds", "commit")}
                      for line in runs(lines, model)]} for model, figures in paper.SENTIMENT.items()]  # fmt: skip


def files(lines):
    made = {"sentiment.md": table(lines) + "\n", "sentiment.json": as_json(lines)}
    drawn = figure(lines)
    return made | ({"sentiment_words.svg": drawn} if drawn else {})
