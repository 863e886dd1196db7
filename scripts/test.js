import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServices } from "../tests/services/find-services.js";
import { serverTests } from "../tests/services/server-tests.js";
import { ensureBuilt } from "./build.js";
import { ensureInstalled } from "./install.js";
import { phase, runScript } from "./phase.js";
import { root } from "./root.js";
import { runCommand } from "./run-command.js";
import { describeTimes, triedAgain } from "./test-times.js";
import { countPassed, describeModelHost, describeTopologies, llamaServer } from "./topologies.js";
import { watchTests } from "./watch-tests.js";

// `npm test` is the quick tests, `npm run test:all` all of them, and what is given to jest chooses for itself. With `--times`
// a table at the end says where the time went.
const isTimed = process.argv.includes("--times");
const args = process.argv.slice(2).filter((arg) => arg !== "--times");
const isQuick = args.length === 0;
const isWhole = args.includes("--all");
/** The longest file of tests takes five minutes on a quiet machine. */
const LONGEST_FILE_MS = Number(process.env.NIGHTDESK_LONGEST_FILE_MS ?? 20 * 60_000);
const mustRunAll = process.env.CI === "true" && process.env.TEST_SERVICES !== "none";

// Of the two cores of the smallest machine two workers leave a third unused, with a database a test file that is shared by all.
// What mostly waits, for leases and for what comes back, leaves room for one more. What measures time shares the machine with
// no other test, in a process that is made anew when it has grown.
const WHOLE = [
  { tests: "busy", args: ["--maxWorkers=3"] },
  { tests: "waiting", args: ["--maxWorkers=4"] },
  { tests: "limits", args: ["--maxWorkers=1"] },
];
const QUICK = [{ tests: "quick", args: ["--maxWorkers=3"] }];
const CHOSEN = [
  {
    tests: undefined,
    args: args.some((arg) => /^(-w|-i|--maxWorkers|--runInBand)/.test(arg))
      ? args
      : ["--maxWorkers=2", ...args],
  },
];

await runScript(async () => {
  await phase("install", () => ensureInstalled("full"));
  await phase("build", ensureBuilt);
  const services = await phase("services", findServices);
  try {
    if (mustRunAll) refuseMissing(services);
    if (isQuick || isWhole) await phase("templates", () => makeTemplates(services.env));
    return await runTests(services);
  } finally {
    await services.stop();
  }
});

async function makeTemplates({ TEST_DATABASE_URL: url }) {
  const words = ["--import", "./bench/register.js", "tests/support/make-templates.ts"];
  const args = url === undefined ? words : [...words, url];
  const exitCode = await runCommand(process.execPath, args, { cwd: root });
  if (exitCode !== 0) throw new Error("The databases that tests copy could not be made.");
}

async function runTests(services) {
  const passed = new Map();
  const reports = [];
  let exitCode = 0;
  for (const run of isWhole ? WHOLE : isQuick ? QUICK : CHOSEN) {
    const start = performance.now();
    const ended = await runJest(run, services.env);
    exitCode ||= ended.exitCode;
    const seconds = (performance.now() - start) / 1_000;
    reports.push({ tests: run.tests ?? "chosen", seconds, results: ended.results });
    for (const [topology, count] of countPassed(ended.results)) {
      passed.set(topology, (passed.get(topology) ?? 0) + count);
    }
  }
  if (isTimed) for (const line of describeTimes(reports)) process.stdout.write(`${line}\n`);
  exitCode ||= refuseTriedAgain(reports);
  process.stdout.write(`${describeTopologies(passed, services.notes)}\n`);
  process.stdout.write(`${describeModelHost(passed, services.notes)}\n`);
  for (const line of leftOut(services)) process.stdout.write(`${line}\n`);
  const isChosen = !isWhole && !isQuick;
  // Debian's unstable suite may be out of reach for a while: .ci/run says so, and goes on without it.
  if (services.env.TEST_LLAMA_SERVER === undefined) passed.delete(llamaServer);
  return exitCode === 0 && mustRunAll && !isChosen ? refuseUnexercised(passed) : exitCode;
}

function* leftOut({ env }) {
  if (env.TEST_DATABASE_URL === undefined) {
    yield `left out without a Postgres server: ${serverTests().length} files of tests, and those of several connections`;
  }
  if (isQuick)
    yield "left out of the quick tests: whole evenings, faults, limits, documents and what takes 9 s, which `npm run test:all` has";
}

async function runJest({ tests, args: options }, serviceUrls) {
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-test-"));
  const report = join(folder, "results.json");
  const running = join(folder, "running.json");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const watched = watchTests(running, LONGEST_FILE_MS);
  const exitCode = await runCommand(
    process.execPath,
    ["--experimental-vm-modules", jest, "--json", `--outputFile=${report}`, ...options],
    {
      cwd: root,
      env: {
        ...process.env,
        ...serviceUrls,
        NIGHTDESK_TESTS: tests,
        NIGHTDESK_RUNNING_FILES: running,
        NODE_NO_WARNINGS: "1",
      },
      signal: watched.signal,
      killSignal: "SIGKILL",
    },
  )
    .catch((error) => {
      if (watched.signal.aborted) return 1;
      throw error;
    })
    .finally(watched.stop);
  const results = existsSync(report)
    ? JSON.parse(readFileSync(report, "utf8"))
    : { testResults: [] };
  rmSync(folder, { recursive: true });
  return { exitCode, results };
}

function refuseTriedAgain(reports) {
  const names = triedAgain(reports);
  for (const name of names)
    process.stderr.write(`was tried again, which no test may be: ${name}\n`);
  return names.length === 0 ? 0 : 1;
}

function refuseMissing({ env, notes }) {
  for (const [name, key] of [
    ["postgres", "TEST_DATABASE_URL"],
    ["redis", "TEST_REDIS_URL"],
  ]) {
    if (env[key] !== undefined) continue;
    throw new Error(
      `CI=true, and no ${name} for the tests (${notes[name]}): a run that skips a topology must not be green. Set ${key}, or run .ci/run, which starts one.`,
    );
  }
}

function refuseUnexercised(passed) {
  const idle = [...passed].filter(([, count]) => count === 0).map(([name]) => name);
  if (idle.length === 0) return 0;
  process.stderr.write(
    `CI=true, and no test passed on ${idle.join(", ")}: a describe block whose name ends in it must hold them.\n`,
  );
  return 1;
}
