/** What an extraction gave: JSON that fits its schema. */
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON schema that was checked when it was queued. */
export type FieldsSchema = Readonly<Record<string, unknown>>;
