import type { ChildProcess } from "node:child_process";
import { z } from "zod";
import { cleanMessage } from "../shared/terminal/styled-text.ts";
import { Refused } from "./failures.ts";
import type { ToolSession } from "./tool-session.ts";
import { takeTurns } from "../shared/take-turns.ts";

/** The result of a tool of `nightdesk mcp --dashboard`. */
export type ToolAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error_code: string; readonly error_message: string };

export type Tools = {
  /**
   * Calls a tool of the one child process. The first call starts it, and a later call restarts it after its end.
   * @throws Refused 503 if it does not reply in time, ends twice during a call, or too many calls wait
   */
  ask(tool: "search" | "doctor", args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  close(): void;
};

/** Calls at once, waiting calls, and time. Doctor takes long, so it has limits of its own. */
const LIMITS = {
  search: { atOnce: 3, waiting: 8, timeMs: 30_000 },
  doctor: { atOnce: 1, waiting: 3, timeMs: 60_000 },
} as const;
/** Both tools only read, so a call is repeated once if its child ended. */
const MOST_TRIES = 2;

type Child = { readonly process: ChildProcess; readonly session: Promise<ToolSession> };

/** @param start spawns `nightdesk mcp --dashboard`, with pipes for its stdin and stdout */
export function openTools(start: () => ChildProcess): Tools {
  const turns = {
    search: takeTurns(LIMITS.search.atOnce, LIMITS.search.waiting, "The search of the dashboard"),
    doctor: takeTurns(LIMITS.doctor.atOnce, LIMITS.doctor.waiting, "Doctor"),
  };
  let current: Child | undefined;
  let isClosed = false;
  const begin = (): Child => {
    const process = start();
    // The MCP client loads while the child starts, and only on the first call.
    const session = import("./tool-session.ts").then(({ openSession }) =>
      openSession(process, LIMITS.search.timeMs),
    );
    const begun = { process, session };
    const onEnd = (): void => {
      if (current === begun) current = undefined;
    };
    process.once("error", onEnd).once("close", onEnd);
    return begun;
  };
  const tryOnce = async (...[tool, args]: Parameters<Tools["ask"]>): Promise<ToolAnswer | null> => {
    const { timeMs } = LIMITS[tool];
    const child = (current ??= begin());
    const { process } = child;
    const opened = await child.session.catch(() => undefined);
    try {
      if (opened !== undefined) return answerOf(await opened.call(tool, args, timeMs));
    } catch (error) {
      if (!opened?.hasEnded()) {
        // The child may hang in this call, and holds a place: the next call gets another child.
        process.kill("SIGKILL");
        throw isTimeout(error) ? timeoutFailure(tool, timeMs) : error;
      }
    }
    process.kill("SIGKILL");
    if (current === child) current = undefined;
    return null;
  };
  return {
    ask: (tool, args) =>
      turns[tool](async () => {
        for (let tries = 0; tries < MOST_TRIES && !isClosed; tries += 1) {
          const answer = await tryOnce(tool, args);
          if (answer !== null) return answer;
        }
        throw endedTwice();
      }),
    close() {
      isClosed = true;
      current?.process.stdin?.end();
      current?.process.kill("SIGTERM");
    },
  };
}

const failureSchema = z.object({ error_code: z.string(), error_message: z.string() });

type CallResult = Awaited<ReturnType<ToolSession["call"]>>;

const answerOf = ({ isError, structuredContent }: CallResult): ToolAnswer =>
  isError === true
    ? { ok: false, ...failureSchema.parse(structuredContent) }
    : { ok: true, result: structuredContent };

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error as { readonly code?: unknown }).code === "REQUEST_TIMEOUT";

const timeoutFailure = (tool: string, ms: number): Refused =>
  new Refused({
    status: 503,
    code: "BUSY",
    message: `${tool} did not answer within ${ms / 1_000} s and was stopped. Ask again, for less.`,
  });

const endedTwice = (): Refused =>
  new Refused({
    status: 503,
    code: "BUSY",
    message:
      "nightdesk mcp ended twice over this. The command nightdesk doctor says what is wrong; ask again then.",
  });

/** The failure of a tool, for people. */
export const toolFailureText = ({
  error_code: code,
  error_message: message,
}: Extract<ToolAnswer, { ok: false }>): string => cleanMessage(`${code}: ${message}`);
