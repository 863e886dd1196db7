import type { ChildProcess } from "node:child_process";
import { z } from "zod";
import { parseJson } from "../shared/json-value.ts";
import { cleanMessage } from "../shared/styled-text.ts";
import { Refused } from "./failures.ts";
import { takeTurns } from "./turns.ts";

/** What `nightdesk tool-server` said to a request. */
export type ToolAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error_code: string; readonly error_message: string };

export type ToolServer = {
  /**
   * Asks the one child that is kept; it is started by the first question, and anew by the first after its end.
   * @throws Refused 503 where it does not answer in time, ends twice over a question, or too many wait
   */
  ask(method: "search" | "doctor", params: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  close(): void;
};

/** Questions at once and waiting, and time: doctor takes long, and leaves search its places. */
const LIMITS = {
  search: { atOnce: 3, waiting: 8, timeMs: 30_000 },
  doctor: { atOnce: 1, waiting: 3, timeMs: 60_000 },
} as const;
const MOST_LINE = 8_000_000;
/** Both only read: a question that went down with its child is asked once more. */
const MOST_TRIES = 2;

const answerSchema = z.intersection(
  z.object({ id: z.number() }),
  z.discriminatedUnion("ok", [
    z.object({ ok: z.literal(true), result: z.unknown() }),
    z.object({ ok: z.literal(false), error_code: z.string(), error_message: z.string() }),
  ]),
);

type Pending = {
  readonly line: string;
  tries: number;
  readonly settle: (answer: ToolAnswer) => void;
  readonly fail: (error: Error) => void;
};

/** @param start spawns the child, with pipes for its stdin and stdout */
export function openToolServer(start: () => ChildProcess): ToolServer {
  const turns = {
    search: takeTurns(LIMITS.search.atOnce, LIMITS.search.waiting, "The search of the desk"),
    doctor: takeTurns(LIMITS.doctor.atOnce, LIMITS.doctor.waiting, "Doctor"),
  };
  const pending = new Map<number, Pending>();
  let child: ChildProcess | undefined;
  let isClosed = false;
  let lastId = 0;
  const send = (request: Pending): void => {
    request.tries += 1;
    child ??= begin();
    child.stdin?.write(request.line);
  };
  const begin = (): ChildProcess => {
    const begun = start();
    begun.stdin?.on("error", () => undefined);
    begun.stderr?.resume();
    readLines(begun, (line) => {
      const read = answerSchema.safeParse(parseJson(line));
      if (read.success) pending.get(read.data.id)?.settle(read.data);
    });
    const onEnd = (): void => {
      if (child === begun) child = undefined;
      else return;
      for (const request of [...pending.values()]) {
        if (isClosed || request.tries >= MOST_TRIES) request.fail(ended());
        else send(request);
      }
    };
    begun.once("error", onEnd).once("close", onEnd);
    return begun;
  };
  return {
    ask: (method, params) =>
      turns[method](() => {
        const id = (lastId += 1);
        const line = `${JSON.stringify({ id, method, params })}\n`;
        const { timeMs } = LIMITS[method];
        return new Promise<ToolAnswer>((resolve, reject) => {
          const timer = setTimeout(() => {
            request.fail(late(method, timeMs));
            // It may go on with it for ever, and holds a place: the next question gets another child.
            child?.kill("SIGKILL");
          }, timeMs);
          const end = (): void => {
            clearTimeout(timer);
            pending.delete(id);
          };
          const request: Pending = {
            line,
            tries: 0,
            settle: (answer) => {
              end();
              resolve(answer);
            },
            fail: (error) => {
              end();
              reject(error);
            },
          };
          pending.set(id, request);
          send(request);
        });
      }),
    close() {
      isClosed = true;
      child?.stdin?.end();
      child?.kill("SIGTERM");
    },
  };
}

/** Whole lines of its stdout. One that never ends costs it its life. */
function readLines(child: ChildProcess, hear: (line: string) => void): void {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    const lines = (text + part).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) hear(line);
    if (text.length > MOST_LINE) child.kill("SIGKILL");
  });
}

const late = (method: string, ms: number): Refused =>
  new Refused({
    status: 503,
    code: "BUSY",
    message: `${method} did not answer within ${ms / 1_000} s and was stopped. Ask again, for less.`,
  });

const ended = (): Refused =>
  new Refused({
    status: 503,
    code: "BUSY",
    message:
      "nightdesk tool-server ended twice over this. The command nightdesk doctor says what is wrong; ask again then.",
  });

/** What it said of a failure, for people. */
export const toolFailureText = ({
  error_code: code,
  error_message: message,
}: Extract<ToolAnswer, { ok: false }>): string => cleanMessage(`${code}: ${message}`);
