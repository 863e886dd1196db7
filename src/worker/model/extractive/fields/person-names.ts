/** A name of one to four words, with the small words that names have between them. */
const WORD = String.raw`\p{Lu}(?:\p{L}|['’](?=\p{Lu})|-(?=\p{Lu})){1,24}`;
export const NAME = String.raw`${WORD}(?: (?:von|van|de|der|den|del|la|le|di|da|du|zu|bin|al) ${WORD}| ${WORD}){0,3}`;

/** Words that begin sentences, and capitalised words that are nobody's name. */
const NO_NAMES = new Set(
  `the this that these those there here it its if when while where what who whose which how why in on at by for from to
   with without of and or but not no yes one two three four five six seven eight nine ten all each every both some any
   many most more few other another same we you he she they i our your his her their my me us them as after before since
   until then than so such also only just even still never always again now today tomorrow yesterday first second third
   last next new old everybody everyone nobody somebody anybody whoever everything nothing something dear please thank
   thanks sorry note warning total sum table item items list step steps part chapter section see page figure
   der die das den dem des ein eine einen einem einer und oder aber nicht wenn wer was wo wie warum wir ihr er sie es ich
   man alle jeder jede jedes kein keine bitte liebe lieber sehr im am zum zur vom von mit ohne nach vor seit bis auf aus
   monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag
   january february march april may june july august september october november december januar februar märz mai juni
   juli oktober dezember spring summer autumn winter season easter christmas advent
   eur usd chf gbp kg km cm mm ml ok am pm tel fax sms pdf usb led uv gps wifi wlan
   open closed opening closing full half read write check start stop take put keep call ask tell look go come give get
   make let use turn wash clean count order pay bring send show wait hang wear fill`.split(/\s+/),
);
/** What firms, places and bodies are called. */
const NO_PERSON =
  /(?:^| )(?:Hut|House|Hotel|Street|Road|Square|Valley|Mountain|Lake|River|Church|School|Bank|Company|Cooperative|Club|Board|Assembly|Meeting|Contract|Committee|Council|Office|Department|Station|Airport|University|Institute|Association|Society|Group|Team|Room|Store|Kitchen|GmbH|AG|Ltd|Inc|LLC|Sankt|Saint|San|Santa|St|Bad|Ober|Unter|Mühle|Sennerei|Rösterei|Elektro|Seilbau|Luftfracht|Handel|Insurance|Versicherung|Genossenschaft|Verein|Museum|Foundation|Stiftung|Verlag|Werft|Reederei|Ministry|Ministerium|Amt|Gericht|Kanzlei|Klinik|Clinic|Hospital|Krankenhaus|Praxis|Apotheke|Pharmacy|Bakery|Bäckerei|Brewery|Brauerei|Logistics|Logistik|Shipping|Freight|Spedition|Solutions|Systems|Software|Technologies|Technik|Industries|Industrie|Services|Partners|Consulting|Holding|Energy|Energie|Electric|Media|Press|Times|Union|Federation|Verband|League|Party|Choir|Chor|Orchestra|Orchester|Theatre|Theater|Cinema|Kino|Library|Bibliothek|Café|Cafe|Restaurant|Inn|Pension|Harbour|Harbor|Port|Hafen|Marina|Shipyard|Works|Werke|Stadtwerke|Sons|Söhne|Brothers|Gebrüder|SA|SL|SARL|SAS|BV|NV|KG|OHG|SpA|Srl|Corp|Corporation|Trust|Fund|Agency|Agentur|Authority|Behörde|Bureau|Centre|Center|Zentrum|Academy|Akademie|College|Instituto|Institut|Escuela|École|Mairie|Ayuntamiento|Rathaus|Gemeinde|Republic|Express|Lines|Airlines|Railway|Ferry|Fähre|Straße|Gasse|Platz|Weg|Act|Law)(?: |$)/u;

export const isNoName = (word: string): boolean => NO_NAMES.has(word.toLowerCase());

/** A run of capitalised words as a person's name: without what opens a sentence; null where nothing is left of it. */
export function asName(found: string): string | null {
  const words = found.split(" ");
  while (words[0] !== undefined && isNoName(words[0])) words.shift();
  while (words.length > 0 && isNoName(words.at(-1) ?? "")) words.pop();
  const name = words.join(" ");
  return name === "" || NO_PERSON.test(name) || words.some((word) => /^\p{Lu}{2,}$/u.test(word))
    ? null
    : name;
}
