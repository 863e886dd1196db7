/** The three topologies, as the describe blocks of the tests name them: `describe("on embedded", …)`. */
export const topologies = ["embedded", "postgres", "redis+postgres"];

/**
 * How many tests passed on each topology: those inside a describe block whose name is `<topology>` or ends
 * in it, like `the store on <topology>`.
 * @param {{ testResults: { assertionResults: { status: string, ancestorTitles: string[] }[] }[] }} results what jest
 *   writes with --json
 * @returns {Map<string, number>} in the order of `topologies`
 */
export function countPassed(results) {
  const passed = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed");
  return new Map(
    topologies.map((name) => [
      name,
      passed.filter(({ ancestorTitles }) => ancestorTitles.some((title) => names(title, name)))
        .length,
    ]),
  );
}

const names = (title, topology) => ` ${title}`.endsWith(` ${topology}`);

/**
 * The line that says which topologies were exercised, and why another was not.
 * @param {Map<string, number>} passed tests by topology
 * @param {Record<string, string>} services where each service came from, or why it is missing
 * @returns {string}
 */
export function describeTopologies(passed, services) {
  const exercised = [...passed].filter(([, count]) => count > 0);
  const list = exercised.map(([name, count]) => `${name} (${count} passed)`).join(", ");
  const where = Object.entries(services).map(([name, note]) => `${name}: ${note}`);
  return `topologies: ${list || "none"} [${where.join("; ")}]`;
}
