#!/usr/bin/env bash
# How fit are 45 patients, judging by five anaesthetists? The program on real data: plan, cost, answers and the picture
# of the model: the fitted model is fitted.json here, the picture model.svg and, where librsvg is installed, model.png.
#   examples/anesthesia.sh [PROGRAM]
set -euo pipefail
program=${1:-plated}
unfitted=$(cd "$(dirname "$0")" && pwd)/models/anesthesia_unfitted.json
model=fitted.json

plated() { "$program" "$@"; }
title() { printf '\n%s\n%s\n\n' "$1" "${1//?/=}"; }

cat <<'END'
How fit for an anaesthetic are 45 patients, from grade I to IV? Five anaesthetists read their files, one of them three
times, and often disagreed (Dawid and Skene 1979). Nobody knows the true grades, nor how well each of the five judges:
both are learnt from what they said.
END
title "How well does each of them judge, and how frequent are the grades?"
plated fit "$unfitted" -o "$model"
printf '\nThe best ln L of 100 random starts, which leave open which grade is which:\n'
plated fit "$unfitted" --restarts 100 --quiet | grep '^ln L'
title "Can it be solved, and what does it cost?"
plated explain "$model"
title "How probable is what the five said?"
plated solve "$model" --task pr
title "How fit is each patient? The first twelve"
plated solve "$model" --task mar | sed -n 1,13p
title "All grades at once: the most probable assignment"
plated solve "$model" --task map | awk '
  /^ln score/ { print }
  /^truth/ { split($1, part, /[][]/); grade[$2] = grade[$2] " " part[2]; count[$2]++ }
  END {
    print ""
    split("I II III IV", order, " ")
    for (k = 1; k <= 4; ++k) printf "grade %-3s  %2d patients: %s\n", order[k], count[order[k]], grade[order[k]]
  }'
plated draw "$model" -o model.svg
picture="model.svg"
if plated draw "$model" -o model.png; then picture+=" and model.png"; fi
printf '\nThe picture of the model is in %s. More: %s --help\n' "$picture" "${program#"$PWD"/}"
