import type { CueList } from "./cue-list.ts";

export const GERMAN: CueList = {
  not: "nicht|kein|keine|keinen|keinem|keiner|keines|keinerlei|nie|niemals|niemand|niemanden|nichts|nirgends|weder|ohne|verboten|untersagt|unzulassig|fehlt|fehlte|fehlten|fehlen|abgelehnt|lehnte|lehnt|lehnten|verweigert|verweigerte|ausgeschlossen|unmoglich|unverandert|unbekannt|kaum|statt|anstatt|anstelle|entfallt|entfiel|unterbleibt|entschuldigt|verzichtet|scheiterte|gescheitert|unbeschadigt|offen|abgesagt|storniert|gestrichen",
  all: "alle|allen|aller|alles|jeder|jede|jedes|jedem|jeden|immer|stets|samtliche|samtlichen|samtlicher|ganze|ganzen|ganz|vollstandig|uberall|jederzeit|durchgehend|ausnahmslos|beliebig|beliebige|beliebigen|einstimmig|einhellig|egal",
  only: "nur|lediglich|ausschliesslich|bloss|allein|einzig|einzige|einziger|erst",
  most: "meist|meisten|meistens|mehrheit|uberwiegend|hauptsachlich|vorwiegend|grosstenteils|mehrheitlich|vor allem",
  some: "von denen|eine davon|einer davon|eines davon|eine der|einer der|eines der|einige|einigen|manche|manchen|mehrere|mehreren|wenige|wenigen|teilweise|teils|teil|halfte|viele|vielen|bestimmte",
  often:
    "meistens|oft|haufig|normalerweise|manchmal|gelegentlich|selten|ublicherweise|gewohnlich|in der regel",
  except: "ausser|ausgenommen|ausnahme|abgesehen|bis auf",
  condition: "wenn|falls|sofern|sobald|solange|vorausgesetzt|bedingung|soweit|es sei denn",
  atLeast: "mindestens|wenigstens|minimum|ab|nicht unter|nicht weniger als|zumindest",
  atMost:
    "hochstens|maximal|maximale|maximaler|maximales|bis zu|maximum|langstens|nicht mehr als|spatestens|innerhalb|binnen|obergrenze",
  over: "uber|mehr als|oberhalb|ubersteigt|uberschreitet|hoher als",
  under: "unter|weniger als|unterhalb|unterschreitet|niedriger als",
  plan: "empfohlen|empfiehlt|empfehlen|angeboten|plant|planen|geplant|plan|geplante|geplanten|vorgesehen|vorgeschlagen|vorschlag|soll|sollen|sollte|sollten|wird|werden|will|wollen|mochte|mochten|beabsichtigt|erwartet|voraussichtlich|kunftig|vorgemerkt|erwagt|erwogen|gepruft|pruft|beantragt|angekundigt|noch nicht|noch kein|noch keine|noch keinen|noch keiner|noch keines|strebt|angestrebt|hofft|wurde gern|in aussicht",
  maybe:
    "meint|meinen|glaubt|glauben|ob|vielleicht|moglicherweise|vermutlich|wahrscheinlich|offenbar|anscheinend|konnte|konnten|durfte|durften|wurde|wurden|hatte|hatten|ware|waren|musste|mussten|eventuell|wohl|scheint|vermutet|mutmasslich|angeblich|unter umstanden|verdacht",
  done: "bereits|schon|abgeschlossen|fertig|beschlossen|in kraft|in betrieb",
  cause:
    "weil|da|denn|wegen|aufgrund|infolge|dadurch|deshalb|daher|darum|deswegen|grund|ursache|verursacht durch|ausgelost durch|bewirkt durch|verursacht von|verursacht|verursachte|fuhrte|fuhrten|sodass|so dass|folge|zuruckzufuhren|ausgelost|loste|daran|liegt an|lag an|bewirkt|bewirkte|zwang|zwangen|zwingt|schuld|dank|damit|um zu|verdankt|namlich|durch",
  before: "vor|bevor|bis|zuvor|vorher|fruher|ehe|vorherige|zunachst",
  after:
    "dann|nach|nachdem|danach|spater|anschliessend|daraufhin|folgte|darauf|hinterher|nachher|seit|seitdem",
  first: "zuerst|erst|erste|ersten|erster|anfangs|zunachst|beginn|beginnt|begann|anfang",
  last: "zuletzt|letzte|letzten|schliesslich|ende|endet|endete",
  instead:
    "statt|anstatt|anstelle|ersetzt|ersetzte|ersetzen|sondern|abgelost|ehemals|fruhere|bisherige",
  than: "als|uberstieg|uberstiegen|ubersteigt|ubersteigen|ubertraf|ubertrafen|ubertrifft|ubertreffen|uberwog|uberwiegt|verglichen|gegenuber|im vergleich|anders als|ebenso|genauso|gleich|doppelt",
  extreme:
    "alteste|altesten|neueste|neuesten|grosste|grossten|kleinste|kleinsten|hochste|hochsten|niedrigste|niedrigsten|langste|langsten|kurzeste|billigste|gunstigste|teuerste|teuersten|beste|besten|schlechteste|schnellste|langsamste|starkste|schwerste|am meisten|am wenigsten|jungste|wertvollste",
  must: "muss|mussen|musste|mussten|verpflichtet|pflicht|erforderlich|notwendig|vorgeschrieben|zwingend|notig",
  can: "darf|durfen|kann|konnen|erlaubt|gestattet|zulassig|freiwillig|moglich|berechtigt|optional",
  neutral:
    "als ob|und damit|bis jetzt|bisher|nach wie vor|je nach|als auch|sowohl als auch|vor allem|vor ort|nach oben|zum teil|ganz und gar",
};
