# What Gradescope does with the zip of `grader autograder gradescope`, in a clean system for test_clean_root.py: unpacks
# it at /autograder/source, runs setup.sh as root, then run_autograder on submissions, each with a file of metadata.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/os-release
if [ "$ID" = ubuntu ]; then  # its images have the updates, which debootstrap leaves out
  sed -n "s/ $VERSION_CODENAME / $VERSION_CODENAME-updates /p" /etc/apt/sources.list > /etc/apt/sources.list.d/updates.list
fi
apt-get update -qq && apt-get install -y -qq --no-install-recommends unzip python3 > /dev/null
mkdir -p /autograder/{source,submission,results}
unzip -q /with/autograder.zip -d /autograder/source
cp /autograder/source/run_autograder /autograder/run_autograder
[ -x /autograder/run_autograder ] || { echo "run_autograder is not executable" >&2; exit 1; }
began=$SECONDS
(cd /autograder/source && ./setup.sh)
echo "image built in $((SECONDS - began)) s, $(du -sm /opt/lockstep | cut -f1) MB in /opt/lockstep"
left=$(find / -xdev \( -name 'hidden_*' -o -name reduction.cu \) -path '*lockstep*' ! -path '/root/*' ! -path '/with/*')
[ -z "$left" ] || { echo "still in the image: $left" >&2; exit 1; }

capabilities=-all
for one in chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap; do
  capabilities+=",+$one"
done
cd /
umount /root/lockstep  # the clone of the project is no part of an image
for submission in /with/submissions/*; do
  name=$(basename "$submission")
  rm -rf /autograder/submission /autograder/results
  mkdir -p /autograder/submission /autograder/results
  cp -r "$submission/." /autograder/submission
  cat > /autograder/submission_metadata.json <<JSON
{"id": 123456, "created_at": "2026-03-02T14:22:32.365935-08:00",
 "assignment": {"due_date": "2026-03-01T23:00:00.000000-08:00", "group_size": 2, "group_submission": true, "id": 25828,
  "course_id": 1234, "late_due_date": null, "release_date": "2026-02-01T00:00:00.000000-08:00", "title": "Reduction",
  "total_points": "100.0"},
 "submission_method": "upload",
 "users": [{"email": "ada@example.edu", "id": 1, "name": "Ada <b>Lovelace</b>"}, {"email": "b@example.edu", "id": 2, "name": "B"}],
 "previous_submissions": [{"submission_time": "2026-03-01T10:00:00.000000-08:00", "score": 12.5, "autograder_error": false,
  "results": {"score": 12.5}}]}
JSON
  echo "== $name"
  began=$SECONDS
  (cd /autograder && setpriv --bounding-set "$capabilities" --inh-caps -all python3 /with/filter.py \
    ./run_autograder > results/stdout 2>&1) || { echo "status $?"; cat /autograder/results/stdout; }
  echo "$((SECONDS - began)) s"
  head -n 3 /autograder/results/stdout
  if [ -f /autograder/results/results.json ]; then
    python3 - <<'PYTHON'
import json
document = json.load(open("/autograder/results/results.json"))
print("score", document["score"], "of", sum(test["max_score"] for test in document["tests"]))
print(document["output"])
print({key: document["extra_data"].get(key) for key in ("verdict", "rung", "handed", "sandbox", "total_points")})
print(document.get("leaderboard"))
text = json.dumps(document)
lines = {line for test in document["tests"] for line in test["output"].splitlines() if line.startswith("PROBE")}
print("\n".join(sorted(lines)))
PYTHON
  fi
  find /tmp /var/tmp /dev/shm -newer /with/autograder.zip -name '*probe*' -o -name 'box-*' | sed 's/^/left behind: /'
  pgrep -u 64100-64163 -l 2>/dev/null | sed 's/^/left running: /' || true
done
