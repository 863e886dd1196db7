/** Styles of drawn sections, shared by the dashboard and reports. */

/** The colour of each state, grade, outcome or kind of tokens. The page defines the colours. */
const TONES: Readonly<Record<string, readonly string[]>> = {
  good: ["succeeded", "supported", "verified", "completed", "done", "pass", "kept", "written"],
  refused: ["refused", "unconfirmed", "unresolved", "held", "marked", "warn", "paced", "uncertain"],
  bad: ["failed", "unsupported", "fail", "lost"],
  accent: ["running", "started", "read"],
  idle: ["cancelled", "expired", "dropped", "unknown", "took"],
  /** Not begun: areas are paler than text. */
  waiting: ["queued", "parked", "waiting", "loading"],
};

/** The CSS class of a state. States come from rows, so other characters are removed. */
export const classOf = (state: string): string => `s-${state.replaceAll(/[^a-z_]/g, "")}`;

const toneRule = ([tone, states]: readonly [string, readonly string[]]): string => {
  const [text, area] =
    tone === "waiting"
      ? ["var(--idle)", "color-mix(in srgb, var(--idle) 35%, var(--card))"]
      : [`var(--${tone})`, `var(--${tone})`];
  return `${states.map((state) => `.${classOf(state)}`).join(", ")} { --tone: ${text}; --area: ${area}; }`;
};

/** Text uses `--tone`; areas and their legends use `--area`. On a phone each row of a table is a card. */
export const SECTION_STYLE = `
${Object.entries(TONES).map(toneRule).join("\n")}
.zero { color: var(--soft); font-weight: 400; }
.hash { display: inline-block; max-width: 9ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: text-bottom; }
.hash:is(:hover, :focus, :active) { display: inline; white-space: normal; }
@media print { .hash { display: inline; white-space: normal; } }
@media (max-width: 40rem) {
  .scroll { overflow-x: visible; }
  .scroll :is(table, tbody, tr, td, th) { display: block; }
  .scroll thead { display: none; }
  .scroll caption { display: block; }
  .scroll tr { margin: .5rem 0; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); }
  .scroll :is(td, th) { min-width: 0; max-width: none; padding: .1rem 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .scroll td.n { display: inline-block; margin-right: 1rem; }
  .scroll td:empty { display: none; }
  .scroll td[data-title]::before { content: attr(data-title) ": "; color: var(--soft); }
}
`;
