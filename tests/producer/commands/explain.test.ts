import { tmpdir } from "node:os";
import { expect, test } from "@jest/globals";
import { CODES } from "../../../src/shared/failure.ts";
import { jsonLine } from "../../support/run-bin.ts";
import { runCommand } from "../../support/run-command.ts";

// No configuration is read: a variable that names a missing one changes nothing.
const place = { cwd: tmpdir(), env: { NIGHTDESK_CONFIG: "/nowhere/nightdesk.yaml" } };
const explain = (...words: readonly string[]) => runCommand(["explain", ...words], place);

test("says what a code means, what to do, what becomes of the job and how a command ends", async () => {
  const { stdout, code } = await explain("MODEL_UNREACHABLE");
  expect(code).toBe(0);
  expect(stdout).toContain("MODEL_UNREACHABLE: The model host does not answer.");
  expect(stdout).toContain("What to do: Start the model host");
  expect(stdout).toMatch(/Outcome: parked: tried again/);
  expect(stdout).toContain("Exit code: 75, or 69 of a command");
});

test("takes a code as somebody types it, and gives it as JSON", async () => {
  expect(jsonLine(await explain("model-timeout", "--json"))).toMatchObject({
    code: "MODEL_TIMEOUT",
    outcome: "retried",
    retried: true,
    exit_codes: [1],
  });
});

test("names close codes for a typo, and where the codes of doctor stand", async () => {
  const typo = await explain("FILE_NOTFOUND");
  expect(typo.stderr).toContain("Did you mean FILE_NOT_FOUND?");
  expect(typo.code).toBe(1);
  expect((await explain("DOCTOR_INDEX_EMPTY")).stderr).toContain("docs/reference/errors.md");
});

test("lists every code, each with its exit code and something to do", async () => {
  const listed = JSON.parse((await explain("--json")).stdout) as readonly {
    readonly code: string;
    readonly remedy: string;
    readonly exit_codes: readonly number[];
  }[];
  expect(listed.map(({ code }) => code)).toEqual(Object.keys(CODES));
  expect(listed.filter((one) => one.remedy === "" || one.exit_codes.length === 0)).toEqual([]);
  expect((await explain()).stdout.split("\n").length).toBeGreaterThan(listed.length);
});
