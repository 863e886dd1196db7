import { relative } from "node:path";
import { root } from "./root.js";
import { countPassed } from "./topologies.js";

const LONGEST_FILES = 20;

/** @typedef {import("./test-times.js").Report} Report what jest writes with --json of one run, its name, and its seconds */

/**
 * The tests that passed only when they were tried again. There must be none: such a test says nothing of what it tests.
 * @param {Report[]} reports
 * @returns {string[]} file and name of each
 */
export function triedAgain(reports) {
  return filesOf(reports).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ invocations }) => (invocations ?? 1) > 1)
      .map(({ fullName }) => `${name}: ${fullName}`),
  );
}

/**
 * Where the time of tests goes, as lines of a table: runs with the tests that passed in each by topology, the longest files
 * in seconds by the clock, and what was tried again.
 * @param {Report[]} reports
 * @returns {string[]}
 */
export function describeTimes(reports) {
  return [
    "seconds  files  passed  run",
    ...reports.map(describeRun),
    "seconds  file, the longest",
    ...filesOf(reports)
      .sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1))
      .slice(0, LONGEST_FILES)
      .map(({ seconds, name }) => `${inSeconds(seconds)}  ${name}`),
    ...describeTriedAgain(triedAgain(reports)),
  ];
}

function describeRun({ tests, seconds, results }) {
  const passed = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed").length;
  const byTopology = [...countPassed(results)].filter(([, count]) => count > 0);
  const words = byTopology.map(([name, count]) => `${name} ${count}`);
  const numbers = [
    inSeconds(seconds),
    String(results.testResults.length).padStart(5),
    String(passed).padStart(6),
  ];
  return `${numbers.join("  ")}  ${tests}${words.length > 0 ? `: ${words.join(", ")}` : ""}`;
}

const describeTriedAgain = (names) =>
  names.length === 0
    ? ["tests that were tried again: none"]
    : ["tests that were tried again:", ...names.map((name) => `         ${name}`)];

const filesOf = (reports) =>
  reports
    .flatMap(({ results }) => results.testResults)
    .map((file) => ({
      ...file,
      name: relative(root, file.name),
      seconds: (file.endTime - file.startTime) / 1_000,
    }));

const inSeconds = (seconds) => seconds.toFixed(1).padStart(7);
