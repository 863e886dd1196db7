/** What a morning report says, read back from its Markdown. */
export type MorningReport = {
  readonly headline: string;
  readonly repeated: string | undefined;
  readonly reused: string | undefined;
  readonly tokens: string | undefined;
  /** `CODE, 3 jobs refused`, as they stand there. */
  readonly failureGroups: readonly string[];
  /** Ids of the slowest jobs, as they stand there. */
  readonly slowest: readonly string[];
};

export function readMorningReport(markdown: string): MorningReport {
  const text = markdown.replaceAll(/\\(.)/g, "$1");
  const fact = (label: string) => new RegExp(`^- ${label}: (.+)$`, "m").exec(text)?.[1];
  const [, slowest = ""] = text.split("## The slowest");
  return {
    headline: /^# .+\n\n(.+)$/m.exec(text)?.[1] ?? "",
    repeated: fact("Repeated after a fault"),
    reused: fact("Taken over from earlier runs"),
    tokens: fact("Tokens"),
    failureGroups: [...text.matchAll(/^### ([A-Z_]+, .+)$/gm)].map(([, trouble = ""]) => trouble),
    slowest: [...slowest.matchAll(/^\| (\S+-\d+) \|/gm)].map(([, id = ""]) => id),
  };
}
