import { expect, test } from "@jest/globals";
import { openTerminal } from "../../../src/shared/terminal/terminal.ts";
import type { Terminal } from "../../../src/shared/terminal/terminal.ts";

const HOSTILE = "a\u001b[31mb\u009b31mc\u202egpj\rd\u0007";
const CLEAR = "\r\u001b[2K";

const WAYS: readonly (readonly [string, (terminal: Terminal) => unknown])[] = [
  ["a line of data", (terminal) => terminal.print(HOSTILE)],
  ["lines of data", (terminal) => terminal.printText(`${HOSTILE}\n${HOSTILE}`)],
  ["a value as JSON", (terminal) => terminal.printJson({ [HOSTILE]: HOSTILE })],
  ["JSON that is written already", (terminal) => terminal.printJsonText(`{"a":"\u009b\u202e"}`)],
  [
    "a line for people",
    (terminal) => {
      terminal.say(HOSTILE);
    },
  ],
  [
    "a status line",
    (terminal) => {
      terminal.status(HOSTILE);
    },
  ],
];

test.each(WAYS)("%s drives no terminal, whatever is in it", async (_, tell) => {
  let shown = "";
  const stream = {
    isTTY: true,
    columns: 200,
    write: (text: string) => {
      shown += text;
      return true;
    },
    once: () => undefined,
  };
  const screen = { stdout: stream, stderr: stream };
  await tell(
    openTerminal({ screen, color: "auto", data: "clean", isJson: false, zone: () => null }),
  );
  expect(shown).toMatch(/\S/);
  expect(shown.replaceAll(CLEAR, "")).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
});
