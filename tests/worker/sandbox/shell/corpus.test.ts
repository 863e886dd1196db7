import { chmodSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { decideCommand } from "../../../../src/worker/sandbox/shell/command.ts";
import { closeInputs } from "../../../../src/worker/sandbox/shell/inputs.ts";
import type { AdmittedFile } from "../../../../src/worker/sandbox/shell/inputs.ts";
import { SHELL_LIMITS } from "../../../../src/worker/sandbox/shell/limits.ts";
import { EMPTY_STATE } from "../../../../src/worker/sandbox/shell/state.ts";
import type { ShellCommand, ShellState } from "../../../../src/worker/sandbox/shell/state.ts";
import { GOOD, HOSTILE, LINKS } from "./read-corpus.ts";
import { describeShell, runHere, runScript } from "./shell-here.ts";
import type { Ended } from "./shell-here.ts";

const FILES = {
  "a.md": "alpha\nbeta\ngamma\n",
  "b.md": "beta\n",
  "b c.md": "spaced\n",
  "data.json": '{"name":"desk","list":[1,2,3]}\n',
  "table.csv": "a,2\nb,1\n",
};

// A repository whose configuration names a program wherever git would start one.
const LAY_OUT = `
printf '#!/bin/sh\\ntouch /scratch/RAN\\ncat\\n' >run.sh; chmod +x run.sh
printf 'note: café' >notes.md; : >'café.txt'
ln -s /proc/self/environ link; ln -s .. up; ln -s notes.md safe; ln -s loop loop; ln -s /proc linkdir
mkdir deep; ln -s ../link deep/link
git init -q . && git config user.email a@b && git config user.name a
echo content >f.txt; echo '*.txt diff=evil filter=evil' >.gitattributes; git add f.txt .gitattributes; git commit -qm first
for key in core.pager core.fsmonitor core.editor core.sshCommand diff.external diff.evil.command diff.evil.textconv \\
  filter.evil.clean filter.evil.smudge gpg.program pager.log pager.show pager.diff interactive.diffFilter; do
  git config $key /scratch/run.sh
done
git config log.showSignature true; git config format.pretty evil; git config pretty.evil '%G?%s'
git config core.hooksPath /scratch; touch f.txt; rm -f RAN
`;

let folder = "";
let server: Server;
let connections = 0;
let inputs: AdmittedFile[] = [];
let state: ShellState = EMPTY_STATE;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const saved = (outcome: Ended): ShellState => {
  if (outcome.state.kind === "saved") return outcome.state.state;
  throw new Error(`not saved: ${outcome.state.why}: ${outcome.stderr.head}`);
};

/** As the words that a rule for its program lets run. */
function byRule(text: string): ShellCommand {
  const [binary = ""] = text.split(" ");
  const rule = { verdict: "allow", binary, words: [], folder: "/", expiresAt: null } as const;
  const context = { ask: "listed", place: state, rules: [rule], now: new Date() } as const;
  const decision = decideCommand(text, context);
  if (decision.kind !== "runs") throw new Error(`${text} asks`);
  return decision.command;
}

const hasRun = async (state: ShellState): Promise<boolean> =>
  (await runScript("[ -e /scratch/RAN ] && echo yes", { state })).stdout.head === "yes\n";

describeShell("the corpus of commands, inside", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-canary-"));
    chmodSync(folder, 0o777);
    server = createServer(() => (connections += 1)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const files = mkdtempSync(join(tmpdir(), "nightdesk-inputs-"));
    inputs = Object.entries(FILES).map(([path, content]) => {
      writeFileSync(join(files, path), content);
      return { path, descriptor: openSync(join(files, path), "r"), bytes: content.length };
    });
    rmSync(files, { recursive: true });
    state = saved(await runScript(LAY_OUT));
  });
  afterAll(() => {
    closeInputs(inputs);
    rmSync(folder, { recursive: true });
    server.close();
  });

  test("is laid out as the paths in it were judged", () => {
    expect(state.links).toEqual(LINKS);
  });

  test("runs every good command, and prints what it should", async () => {
    const outcomes = [];
    for (const { command, prints } of GOOD) {
      const outcome = await runHere({ command: byRule(command), inputs, state });
      if (outcome.kind !== "ended") throw new Error(outcome.message);
      const isRight = outcome.stdout.head.includes(prints);
      outcomes.push([
        command,
        outcome.ending,
        isRight ? "prints it" : outcome.stdout.head + outcome.stderr.head,
      ]);
      // git starts what a repository names, which harms nothing here.
      if (command.startsWith("git ")) continue;
      expect([command, await hasRun(saved(outcome))]).toEqual([command, false]);
    }
    const expected = GOOD.map(({ command }) => [
      command,
      { kind: "exited", code: 0, signal: null },
      "prints it",
    ]);
    expect(outcomes).toEqual(expected);
  }, 60_000);

  test("lets git run what a repository names, inside alone", async () => {
    expect(
      await hasRun(saved(await runScript("git -c core.fsmonitor=false status", { state }))),
    ).toBe(true);
  });

  test("does no harm by any hostile command", async () => {
    const limits = { ...SHELL_LIMITS, wallMs: 1500, streamBytes: 1_000_000 };
    const queue = HOSTILE.map(({ command }) =>
      command.replaceAll("@CANARY@", folder).replaceAll("@PORT@", String(portOf(server))),
    );
    const play = async (): Promise<void> => {
      for (let text = queue.shift(); text !== undefined; text = queue.shift()) {
        const outcome = await runHere({ command: { kind: "script", text }, inputs, state, limits });
        if (outcome.kind === "not_started")
          expect([text, outcome.reason]).toEqual([text, "invalid_request"]);
      }
    };
    await Promise.all([play(), play(), play()]);
    expect(readdirSync(folder)).toEqual([]);
    expect(connections).toBe(0);
    const after = await runScript("echo still here; cat /input/a.md", { inputs, state });
    expect(after.stdout.head).toBe(`still here\n${FILES["a.md"]}`);
  }, 120_000);
});
