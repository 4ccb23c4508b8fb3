"""Files: what is read, and how what cannot be judged is refused."""

import contextlib
import io
import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import check
import cpu_table
from history import SCHEMA, BadInput
from tests.build import TABLES, US, header, in_time, table, text
from tests.test_planted import END, history, outcome


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_check(self, *arguments):
        """Exit code, stdout and stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = check.main([*arguments, "--cpu", str(TABLES / "xeon-gold-6130.toml")])
        return code, out.getvalue(), err.getvalue()

    def test_an_agreeing_run_exits_0_and_states_its_numbers(self):
        file = self.write("h.ektrace", text(header(END, 2), history()))
        stated = self.write("o.json", json.dumps(outcome()))
        result = self.folder / "r.json"
        code, out, _ = self.run_check(file, "--outcome", stated, "--json", str(result))
        self.assertEqual((code, out.splitlines()[-1]), (0, "agrees"))
        read = json.loads(result.read_text())
        self.assertEqual(read["tasks"][1]["cpu_time_ns"], 900_000)
        self.assertEqual(read["cores"][0]["level_ns"], [260_000, 30_000, 1_610_000])

    def test_a_disagreement_exits_1(self):
        records = [record for record in history() if record["e"] != "license"]
        file = self.write("h.ektrace", text(header(END, 2), records))
        code, out, _ = self.run_check(file)
        self.assertEqual(code, 1)
        self.assertIn("license: 0 ns: core 0", out)

    def test_an_outcome_that_lacks_or_garbles_something_exits_2(self):
        file = self.write("h.ektrace", text(header(END, 2), history()))
        spoilt = [
            ("does not state sensors", lambda stated: stated.pop("sensors")),
            ("does not state renewals", lambda stated: stated.pop("renewals")),
            ("lacks or garbles 'losses'", lambda stated: stated.pop("losses")),
            ("counted_from_ns: ", lambda stated: stated.update(counted_from_ns=-1)),
            ("renewals: ", lambda stated: stated["renewals"].append({"t": "1", "task": 2})),
            ("garbles ", lambda stated: stated["renewals"].append(7)),
            ("'repaid_ns'", lambda stated: stated["losses"][0].pop("repaid_ns")),
            ("'billed_ns'", lambda stated: stated["tasks"][1].pop("billed_ns")),
        ]
        for words, spoil in spoilt:
            stated = outcome()
            spoil(stated)
            code, _, err = self.run_check(
                file, "--outcome", self.write("o.json", json.dumps(stated))
            )
            self.assertEqual(code, 2, words)
            self.assertIn(words, err)

    @unittest.skipUnless(shutil.which("zstd"), "needs the zstd command")
    def test_a_compressed_history_is_read(self):
        plain = text(header(END, 2), history()).encode()
        packed = subprocess.run(["zstd", "-cq"], input=plain, capture_output=True, check=True)
        code, _, _ = self.run_check(self.write("h.ektrace", packed.stdout))
        self.assertEqual(code, 0)
        code, _, err = self.run_check(self.write("cut.ektrace", packed.stdout[:-20]))
        self.assertEqual(code, 2)
        self.assertIn("zstd", err)

    def test_a_simulated_history_with_a_call_stack_is_judged_and_refused(self):
        first, _, rest = text(header(END, 2), history()).partition("\n")
        *records, end = rest.splitlines(keepends=True)
        taken = {"t": 0, "e": "stack", "task": 1, "stack": 0}
        stack = json.dumps({"stack": ["main", "work"]}) + "\n"
        end = json.loads(end)
        end["records"] += 1
        lines = [first + "\n", stack, json.dumps(taken) + "\n", *records, json.dumps(end) + "\n"]
        code, out, _ = self.run_check(self.write("stacks.ektrace", "".join(lines)))
        self.assertEqual(code, 1)
        self.assertIn("stack does not belong in a simulated history", out)

    def test_files_that_are_no_history_exit_2_with_their_line(self):
        whole = text(header(END, 2), history())
        lines = whole.splitlines(keepends=True)
        newer = SCHEMA + 1
        broken = {
            "cut off": "".join(lines[:-1]),
            ":4: not JSON": whole.replace(lines[3], lines[3][:-9] + "\n"),
            f"schema {newer}": whole.replace('"schema": 1', f'"schema": {newer}', 1),
            "schema None": "",
            ":3: unknown event": whole.replace('"switch"', '"leap"', 1),
            ":3: cpu: -1": whole.replace('"cpu": 0, "prev"', '"cpu": -1, "prev"', 1),
            "end of another": "".join(lines[:1] + lines[2:]),
            "task 2 has no app": whole.replace('"app": "a2"', '"pid": 2'),
            "simulated": whole.replace('"simulated"', '"recorded"'),
        }
        for words, content in broken.items():
            code, _, err = self.run_check(self.write("bad.ektrace", content))
            self.assertEqual(code, 2, words)
            self.assertIn(words, err)
        self.assertEqual(self.run_check(str(self.folder / "none"))[0], 2)

    def test_a_table_without_what_the_run_needs_is_refused(self):
        lacking = table()
        del lacking["license"]["hold_us"]
        with self.assertRaisesRegex(BadInput, "hold_us is missing"):
            cpu_table.Cpu(lacking)
        cpu = cpu_table.Cpu(table("xeon-gold-5120"))
        with self.assertRaisesRegex(BadInput, "no turbo row for 5"):
            cpu.row(5)
        with self.assertRaisesRegex(BadInput, "does not support amx"):
            cpu.level_demanded("amx", 1)

    def test_the_rise_that_says_most_applies(self):
        cpu = cpu_table.Cpu(table())
        durations = {heavy: [s.ns for s in cpu.rise(0, 1, heavy)] for heavy in (False, True)}
        self.assertEqual(durations, {False: [20 * US, 10 * US], True: [20 * US, 20 * US, 10 * US]})
        granite = cpu_table.Cpu(table("granite-rapids"))
        self.assertEqual([s.ns for s in granite.rise(2, 4, True)], [2600])
        self.assertEqual(granite.rise(0, 1, True), [])

    def test_a_rise_with_its_start_named_comes_before_a_general_one(self):
        words = table()
        general = {"to": "avx-512", "stages": [{"kind": "halt", "us": 1}]}
        words["rise"].insert(0, general)
        cpu = cpu_table.Cpu(words)
        self.assertEqual([s.ns for s in cpu.rise(1, 2, True)], [20 * US, 10 * US])

    def test_without_turbo_no_level_is_faster_than_a_faster_one(self):
        cpu = cpu_table.Cpu(table("xeon-silver-4108"))
        self.assertEqual([cpu.khz(0, level, False) for level in range(3)], [1_800_000] * 3)
        self.assertEqual(cpu.khz(3, 2, False), 1_200_000)
        capped = table()
        capped["turbo_off"]["mhz"] = {"non-avx": 2100, "avx2": 1500}
        self.assertEqual(cpu_table.Cpu(capped).khz(0, 2, False), 1_500_000)

    def test_records_of_one_instant_count_in_any_order(self):
        records = in_time(history()[::-1])
        swapped = [r for r in records if r["e"] in ("license", "frequency")]
        kept = [r for r in history() if r["e"] not in ("license", "frequency")]
        file = self.write("h.ektrace", text(header(END, 2), in_time(swapped + kept)))
        self.assertEqual(self.run_check(file)[0], 0)


if __name__ == "__main__":
    unittest.main()
