import { walkXml } from "../reader/walk-xml.ts";

/** The properties that a style gives to paragraphs and words. */
export type Style = {
  readonly level: number | undefined;
  readonly list: string | undefined;
  readonly listLevel: number | undefined;
  readonly isHidden: boolean | undefined;
};

type OwnStyle = { -readonly [key in keyof Style]: Style[key] } & { basedOn: string | undefined };

const NO_STYLE: Style = {
  level: undefined,
  list: undefined,
  listLevel: undefined,
  isHidden: undefined,
};

/** Whether a property is on, by its `val`; without a value it is on. */
export const isOn = (val: string | undefined): boolean =>
  val !== "0" && val !== "false" && val !== "off";

/** Styles by id. A heading has an outline level or its English name, which every language version of the program keeps. */
export function readStyles(xml: string): (id: string) => Style {
  const styles = new Map<string, OwnStyle>();
  let style: OwnStyle | undefined;
  walkXml(xml, {
    open(name, { styleId = "", val }) {
      if (name === "style") {
        style = { ...NO_STYLE, basedOn: undefined };
        styles.set(styleId, style);
      }
      if (style === undefined) return;
      if (name === "name")
        style.level ??= Number(/^heading ([1-9])$/i.exec(val ?? "")?.[1] ?? NaN) || undefined;
      if (name === "name" && /^title$/i.test(val ?? "")) style.level = 1;
      if (name === "outlineLvl") style.level = Number(val) + 1;
      if (name === "basedOn") style.basedOn = val;
      if (name === "numId") style.list = val;
      if (name === "ilvl") style.listLevel = Number(val) || 0;
      if (name === "vanish") style.isHidden = isOn(val);
    },
    close(name) {
      if (name === "style") style = undefined;
    },
  });
  return (id) => withBases(styles, id);
}

/** Bounds chains of base styles, which may be circular. */
const MOST_BASES = 20;

/** A style with the properties that it inherits from its base styles. */
function withBases(styles: ReadonlyMap<string, OwnStyle>, id: string): Style {
  let found = NO_STYLE;
  let style = styles.get(id);
  for (let step = 0; step < MOST_BASES && style !== undefined; step += 1) {
    found = {
      level: found.level ?? style.level,
      list: found.list ?? style.list,
      listLevel: found.listLevel ?? style.listLevel,
      isHidden: found.isHidden ?? style.isHidden,
    };
    style = style.basedOn === undefined ? undefined : styles.get(style.basedOn);
  }
  return found;
}
