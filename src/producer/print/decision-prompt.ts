import { isCancel, SelectPrompt, TextPrompt } from "@clack/core";
import { cleanLine, cleanLines, renderLine, styled } from "../../shared/terminal/styled-text.ts";
import { headOf, riskWords } from "../../shared/views/inbox-pages.ts";
import type { ApprovalGroup } from "../../shared/views/inbox.ts";
import { countOf, formatCount, formatMoment } from "../../shared/views/quantity.ts";

export const CHOICES = ["once", "job", "batch", "deny", "rule", "later"] as const;
/** A person's choice for a call: a scope in which to allow it, a denial, or nothing yet. */
export type Choice = (typeof CHOICES)[number];

/** Keys that choose directly, besides the arrow keys and Return. */
const KEYS: Readonly<Record<Choice, string>> = {
  once: "1",
  job: "2",
  batch: "3",
  deny: "4",
  rule: "r",
  later: "s",
};

type PendingDecision = {
  readonly group: ApprovalGroup;
  /** How many calls wait, this one among them. */
  readonly calls: number;
  /** How long a rule is valid, as text. */
  readonly ruleHolds: string;
  readonly color: "color" | "plain";
};

/**
 * Asks on this process's terminal for a decision on a call. Return alone means later.
 * @returns left for Ctrl-C, Ctrl-D, Escape, and if the terminal closes
 */
export async function askDecision(asked: PendingDecision): Promise<Choice | "left"> {
  // Printed once, outside of the prompt: the prompt is redrawn, and would be cut if the call is longer than the terminal.
  process.stdout.write(`${callLines(asked).join("\n")}\n`);
  const gone = goneWith(process.stdin);
  const prompt = new SelectPrompt<{ value: Choice }>({
    options: CHOICES.map((value) => ({ value })),
    initialValue: "later",
    signal: gone.signal,
    render() {
      return this.state === "submit" || this.state === "cancel"
        ? ""
        : [
            "",
            ...CHOICES.map((choice, at) => choiceLine(asked, choice, at === this.cursor)),
            HELP,
          ].join("\n");
    },
  });
  prompt.on("key", (char, key) => {
    const chosen = CHOICES.findIndex((choice) => KEYS[choice] === char?.toLowerCase());
    if (chosen !== -1) {
      prompt.cursor = chosen;
      prompt.value = CHOICES[chosen];
      prompt.state = "submit";
    }
    if (key.ctrl === true && key.name === "d") prompt.state = "cancel";
  });
  const answer = await prompt.prompt().finally(gone.forget);
  return answer === undefined || isCancel(answer) ? "left" : answer;
}

const HELP = "Arrow keys and Return, or the key before a line. Escape leaves without deciding.";

function callLines({ group, calls, color }: PendingDecision): readonly string[] {
  const { tool, executor, risks, requests, batches, preview } = group;
  const shown = cleanLines(preview.trim() === "" ? headOf(group) : preview).split("\n");
  const names = batches.slice(0, 3).map(({ batch }) => JSON.stringify(batch));
  const others =
    batches.length > names.length
      ? ` and ${countOf(batches.length - names.length, "other batch")}`
      : "";
  return [
    `${calls === 1 ? "The last call that waits" : `One of ${formatCount(calls)} calls that wait`}: ` +
      cleanLine(
        `${countOf(requests, "run")} of ${names.join(", ")}${others}, until ${formatMoment(group.expires_at)}`,
      ),
    "",
    cleanLine(`${tool}, by ${executor}:`),
    ...shown.map((line) => `  ${line}`),
    ...(risks.length === 0
      ? []
      : ["", red(`WARNING: it ${cleanLine(riskWords(risks) ?? "")}.`, color)]),
  ];
}

const red = (text: string, color: PendingDecision["color"]): string =>
  renderLine(styled(text, "bad"), color, cleanLine);

const choiceLine = (asked: PendingDecision, choice: Choice, isChosen: boolean): string =>
  `${isChosen ? ">" : " "} ${KEYS[choice]}  ${CHOICE_WORDS[choice](asked)}`;

const CHOICE_WORDS: Readonly<Record<Choice, (asked: PendingDecision) => string>> = {
  once: ({ group }) =>
    `allow it once: ${group.requests === 1 ? "for the run that waits" : `for the ${formatCount(group.requests)} runs that wait`}`,
  job: () => "allow it in this job, of the run that has waited longest",
  batch: () => "allow it in the batch of that job",
  deny: () => "deny it, with a reason that the model is told",
  rule: ({ ruleHolds }) => `allow it as a rule, for ${ruleHolds}`,
  later: () => "leave it for later",
};

/** Asks why a call is denied. @returns undefined if the person leaves */
export async function askReason(): Promise<string | undefined> {
  const gone = goneWith(process.stdin);
  const prompt = new TextPrompt({
    signal: gone.signal,
    validate: (text) => ((text ?? "").trim() === "" ? "Say why: the model is told." : undefined),
    render() {
      if (this.state === "submit" || this.state === "cancel") return "";
      const error = this.state === "error" ? `\n${this.error}` : "";
      return `Why not? The model is told. Escape leaves without deciding.\n> ${this.userInputWithCursor}${error}`;
    },
  });
  const answer = await prompt.prompt().finally(gone.forget);
  return answer === undefined || isCancel(answer) ? undefined : cleanLine(answer.trim());
}

/** Aborts when the input ends, until it is forgotten: Node warns of more than ten listeners. */
function goneWith(input: NodeJS.ReadStream): { signal: AbortSignal; forget: () => void } {
  const gone = new AbortController();
  const abort = (): void => {
    gone.abort();
  };
  input.once("end", abort);
  return { signal: gone.signal, forget: () => void input.off("end", abort) };
}
