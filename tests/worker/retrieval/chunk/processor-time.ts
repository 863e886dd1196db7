/** How long the body keeps this process busy, in milliseconds of its processor time: others on the machine take none of it. */
export function processorMs(body: () => unknown): number {
  const before = process.cpuUsage();
  body();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
