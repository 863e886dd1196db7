/**
 * Whether a run of `.ci/run` must have a server of Debian's. It names in TEST_WITHOUT_SERVERS those that no mirror gave it, and tells
 * of them at its end.
 */
export const isExpected = (debianPackage: string): boolean =>
  process.env["CI"] === "true" &&
  !(process.env["TEST_WITHOUT_SERVERS"] ?? "").split(" ").includes(debianPackage);
