import { openTerminalOf } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT, exitCodesOf } from "../../shared/commands/report-failure.ts";
import { findCloseNames } from "../../shared/text/close-names.ts";
import { CODES, Failure, isErrorCode, OUTCOMES } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import { explainCode } from "../../shared/views/remedies.ts";
import { tableOf } from "../../shared/views/section.ts";
import type { Table } from "../../shared/views/section.ts";
import { printList } from "../print/sections.ts";

/** Explains an error code and its remedy, or lists all codes. It reads no configuration, which may itself be broken. */
export const explain: CommandHandler = async (invocation) => {
  const terminal = openTerminalOf(invocation);
  const wantsJson = invocation.options["json"] === true;
  const [wanted] = invocation.args;
  if (wanted === undefined) {
    const all = ALL.map(explanationOf);
    if (wantsJson) await terminal.printJson(all);
    else await printList(terminal, codeTable(all));
    return EXIT.ok;
  }
  const explanation = explanationOf(findCode(wanted));
  if (wantsJson) await terminal.printJson(explanation);
  else for (const line of linesOf(explanation)) await terminal.print(line);
  return EXIT.ok;
};

const ALL = Object.keys(CODES).filter(isErrorCode);

/** @throws Failure NOT_FOUND with similar codes */
function findCode(wanted: string): ErrorCode {
  const code = wanted.trim().toUpperCase().replaceAll(/[\s-]/g, "_");
  if (isErrorCode(code)) return code;
  if (code.startsWith("DOCTOR_")) {
    const text = `${code} is a code of doctor, which says beside each what to do; docs/reference/errors.md lists them.`;
    throw new Failure("NOT_FOUND", text);
  }
  const close = findCloseNames(code, ALL);
  const hint = close.length === 0 ? "All codes" : `Did you mean ${close.join(" or ")}? All codes`;
  throw new Failure(
    "NOT_FOUND",
    `There is no code ${JSON.stringify(wanted)}. ${hint}: nightdesk explain`,
  );
}

type Explanation = ReturnType<typeof explanationOf>;

const explanationOf = (code: ErrorCode) => ({
  code,
  ...explainCode(code, null),
  outcome: CODES[code].outcome,
  retried: CODES[code].outcome === "retried" || CODES[code].outcome === "parked",
  exit_codes: exitCodesOf(code),
});

const linesOf = ({ code, meaning, remedy, outcome, exit_codes: exits }: Explanation) => [
  `${code}: ${meaning}`,
  `What to do: ${remedy}`,
  `Outcome: ${outcome}: ${OUTCOMES[outcome]}.`,
  `Exit code: ${exits.length === 1 ? exits.join("") : `${exits.join(", or ")} of a command that meets it itself`}`,
];

const codeTable = (codes: readonly Explanation[]): Table =>
  tableOf(codes, [
    ["code", ({ code }) => code],
    ["outcome", ({ outcome }) => outcome],
    ["exit", ({ exit_codes: exits }) => exits.join(", "), { leftOut: 1 }],
    ["meaning", ({ meaning }) => meaning, { least: 30 }],
  ]);
