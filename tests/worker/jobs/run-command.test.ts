import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { CommandContext } from "../../../src/shared/commands/command-context.ts";
import { createLogger } from "../../../src/shared/logger.ts";
import { settleError } from "../../../src/shared/job/settlement.ts";
import { runCommand } from "../../../src/worker/jobs/command.ts";
import { signal } from "../../conformance/signal.ts";

/** Stands in the place of the bin, and does what its arguments say. */
const BIN = `
const [, , ...args] = process.argv;
const [mode, ...words] = args.slice(4);
const say = (code, line) => { process.stderr.write(line + "\\n"); process.exitCode = code; };
switch (mode) {
  case "echo": console.log(JSON.stringify({ args, cwd: process.cwd(), home: process.env.HOME, state: process.env.XDG_STATE_HOME })); break;
  case "told": process.once("message", (told) => { console.log(JSON.stringify({ env: process.env, told })); process.disconnect(); }); break;
  case "lines": for (let i = 1; i <= 30; i += 1) console.log("line " + i + "\\u0007" + "x".repeat(600)); break;
  case "exit": say(Number(words[0]), words[1] ?? ""); break;
  case "print": console.log(words[1]); process.exitCode = Number(words[0]); break;
  case "wait": process.on("SIGTERM", () => process.exit(143)); console.error("here"); setInterval(() => {}, 1000); break;
}
`;

const ENVIRONMENT = {
  HOME: "/home/night",
  XDG_STATE_HOME: "/var/lib/night",
  OLLAMA_BASE_URL: "http://127.0.0.1:1",
  DATABASE_URL: "postgres://night:s3cret@db/nd",
  REDIS_URL_FILE: "/run/secrets/redis",
  PGPASSWORD: "s3cret",
  SOME_API_KEY: "s3cret",
};

describe("the command of a schedule", () => {
  let packageRoot: string;
  let context: CommandContext;
  beforeAll(async () => {
    packageRoot = await realpath(await mkdtemp(join(tmpdir(), "nightdesk-bin-")));
    await mkdir(join(packageRoot, "bin"));
    await writeFile(join(packageRoot, "bin", "nightdesk.js"), BIN);
    context = {
      config: { file: "/etc/nightdesk.yaml", roots: { workroot: packageRoot } },
      invocation: { packageRoot, options: {}, env: ENVIRONMENT },
      logger: createLogger("silent", "json"),
    } as unknown as CommandContext;
  });
  afterAll(() => rm(packageRoot, { recursive: true, force: true }));

  const run = (
    command: readonly string[],
    aborted = new AbortController().signal,
    inContext = context,
  ) =>
    runCommand(
      {
        kind: "command",
        schedule: "nightly",
        planned_at: "2026-11-21T00:00:00.000Z",
        command: [...command],
      },
      inContext,
      aborted,
    );
  const summaryOf = async (...command: string[]) => (await run(command)).summary ?? {};
  const faultOf = (...command: string[]) =>
    run(command).then(
      () => undefined,
      (error: unknown) => error,
    );

  test("runs in the work root with the worker's configuration and environment, and no shell", async () => {
    const { output } = await summaryOf("echo", "$HOME; rm", "--", "-x");
    expect(JSON.parse((output as string[])[0] ?? "")).toEqual({
      args: [
        "--config",
        "/etc/nightdesk.yaml",
        "--workroot",
        packageRoot,
        "echo",
        "$HOME; rm",
        "--",
        "-x",
      ],
      cwd: packageRoot,
      home: "/home/night",
      state: "/var/lib/night",
    });
  });

  test("gets no password in its environment, but what reaches the database over the channel", async () => {
    const { output } = await summaryOf("told");
    const lines = (output as string[]).join("");
    expect(lines).toContain('"HOME":"/home/night"');
    expect(lines).toContain('"OLLAMA_BASE_URL":"http://127.0.0.1:1"');
    expect(lines).not.toContain("SOME_API_KEY");
    const [env = "", told = ""] = lines.split('"told":');
    expect(env).not.toContain("s3cret");
    expect(JSON.parse(told.slice(0, -1))).toEqual({
      DATABASE_URL: "postgres://night:s3cret@db/nd",
      REDIS_URL_FILE: "/run/secrets/redis",
      PGPASSWORD: "s3cret",
    });
  });

  test("keeps the last lines, each of them short and without control characters", async () => {
    const { output, exit_code } = await summaryOf("lines");
    expect(exit_code).toBe(0);
    expect(output).toHaveLength(20);
    const [first = ""] = output as string[];
    expect(first).toMatch(/^line 11.{0,8}x+$/);
    expect(first).not.toContain("\u0007");
    expect(first.length).toBeLessThanOrEqual(510);
  });

  test("succeeds with a note when some items did not", async () => {
    expect(await summaryOf("exit", "3", "2 of 9 refused")).toEqual({
      exit_code: 3,
      note: "some items were refused or failed",
      output: [],
      messages: ["2 of 9 refused"],
    });
  });

  test.each([
    ["1", "nightdesk: NOT_FOUND: There is no source x.", "NOT_FOUND", "failed"],
    ["78", "nightdesk: CONFIG_ERROR: model.name is empty.", "CONFIG_ERROR", "failed"],
    ["2", "nightdesk: USAGE_ERROR: unknown option.", "USAGE_ERROR", "failed"],
    ["4", "Refused: FILE_NOT_FOUND: No file a.md.", "COMMAND_FAILED", "failed"],
    ["1", "The job failed: INTERNAL_ERROR: broke.", "COMMAND_FAILED", "failed"],
    ["1", "", "COMMAND_FAILED", "failed"],
    ["69", "nightdesk: DATABASE_UNREACHABLE: no answer.", "DATABASE_UNREACHABLE", "parked"],
    ["75", "Parked: MODEL_OVERLOADED: busy.", "MODEL_OVERLOADED", "parked"],
    ["75", "The batch is held until 22:00: window.", "COMMAND_DELAYED", "parked"],
  ])("exit code %s with %j is %s, and the job is %s", async (exit, line, code, state) => {
    const fault = await faultOf("exit", exit, line);
    expect(
      settleError(fault, { attempt: 1, maxAttempts: 3, parks: 0, brokenCalls: 0 }),
    ).toMatchObject({
      kind: state,
      code,
      message: expect.stringContaining(`ended with exit code ${exit}`),
    });
    expect((fault as Error).message).toContain(line.replace(/^[^:]*: (?=[A-Z_]+: )/, ""));
  });

  test("ends with its own code also when it prints JSON", async () => {
    const failure = { ok: false, error_code: "NOT_FOUND", error_message: 'There is no "x".' };
    const fault = await faultOf("print", "1", JSON.stringify(failure));
    expect(fault).toMatchObject({ code: "NOT_FOUND" });
    expect((fault as Error).message).toContain("NOT_FOUND: There is no");
  });

  test("is ended when it is cancelled", async () => {
    const begun = signal();
    const logger = {
      child: () => ({
        debug: ({ line }: { line: string }) => {
          if (line === "here") begun.resolve();
        },
      }),
    };
    const abort = new AbortController();
    const reason = new Error("cancelled");
    const running = run(["wait"], abort.signal, { ...context, logger: logger as never });
    await begun.promise;
    abort.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});
