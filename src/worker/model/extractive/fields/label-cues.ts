/**
 * Words that documents of a common kind are full of, in English and German, by what a label may call the kind. A label of
 * no such kind is matched by its own words alone.
 */
export const LABEL_CUES: readonly { readonly names: string; readonly cues: string }[] = [
  {
    names: "invoice bill rechnung receipt quittung payment",
    cues: "invoice vat subtotal payable iban due billed rechnung rechnungsnummer mwst ust zahlbar fällig netto brutto remittance",
  },
  {
    names: "letter brief email mail correspondence korrespondenz message",
    cues: "dear sincerely regards yours greetings geehrte liebe lieber grüße grüßen gruß hochachtungsvoll cordially wishes",
  },
  {
    names: "minutes protokoll meeting sitzung",
    cues: "minutes meeting agenda present attendees apologies motion vote votes abstention abstentions accepted resolved confirmed elections assembly board decided sitzung protokoll tagesordnung anwesend beschluss beschlossen abstimmung",
  },
  {
    names: "contract agreement vertrag lease pacht insurance versicherung",
    cues: "contract agreement between party parties clause clauses term renewed notice termination liability lessor lessee premium insured vertrag kündigung laufzeit vereinbart haftung pays",
  },
  {
    names: "incident accident vorfall unfall störung outage postmortem",
    cues: "incident accident happened cause caused severity damage damaged injured hurt failed vorfall unfall ursache schaden",
  },
  {
    names:
      "runbook manual instructions instruction procedure guide howto anleitung handbuch checklist checkliste",
    cues: "switch valve turn press lever runbook handbook checklist step steps schritt schritte prüfen öffnen schließen drücken procedure",
  },
  {
    names: "offer quote quotation angebot proposal",
    cues: "offer offers offered price discount delivered delivery valid stands angebot gültig rabatt lieferung",
  },
  {
    names: "price prices pricelist preis preise preisliste tariff",
    cues: "price prices preis preise tariff surcharge",
  },
  {
    names: "recipe rezept cooking",
    cues: "stir simmer bake boil dough ingredients serves minutes flour butter onions salt pepper zutaten kochen teig",
  },
  {
    names: "inventory register stock inventar bestand",
    cues: "register item items counted serial quantity stock bestand anzahl",
  },
  {
    names: "policy rules rule regeln hausordnung safety sicherheit",
    cues: "allowed forbidden prohibited rule rules danger safety verboten erlaubt",
  },
  {
    names: "schedule calendar plan kalender rota dienstplan",
    cues: "january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday week shift",
  },
  {
    names: "complaint beschwerde claim reklamation",
    cues: "complaint unhappy refund disappointed broken reklamation beschwerde mangel",
  },
  {
    names: "application resume cv bewerbung lebenslauf",
    cues: "experience education skills references apply bewerbung lebenslauf kenntnisse",
  },
  { names: "log diary journal tagebuch logbuch", cues: "today yesterday arrived heute gestern" },
  {
    names: "newsletter announcement news rundbrief mitteilung",
    cues: "newsletter announce announcing welcome subscribe rundbrief",
  },
];

/** Labels that take what nothing else fits. */
export const OTHER_LABELS: ReadonlySet<string> = new Set(
  "other others misc miscellaneous unknown unsure none rest sonstiges sonstige andere anderes unbekannt".split(
    " ",
  ),
);
