#!/usr/bin/env bash
# Open an issue with the report, or comment on the one that is open under the same title.
set -euo pipefail
if [ -s "$REPORT" ]; then
  head -c 60000 "$REPORT" > report-short.md
else
  echo "The job failed before it wrote a report: see the log." > report-short.md
fi
number=$(gh issue list --state open --search "in:title \"$TITLE\"" --json number --jq '.[0].number // empty')
if [ -n "$number" ]; then
  gh issue comment "$number" --body-file report-short.md
else
  gh issue create --title "$TITLE" --body-file report-short.md
fi
