/** The languages whose words are known by lists. */
export type ListedLanguage = "english" | "german" | "french" | "spanish";

/**
 * Forms of one word that share no beginning, folded, a group between bars: strong verbs, and nouns and verbs that are made of
 * each other.
 */
const WORD_FORMS: Readonly<Record<ListedLanguage, string>> = {
  english: `begin began begun|bite bitten|blow blew blown|break broke broken breakage|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen choice
    |cling clung|cost costs|creep crept|deal dealt|deep depth|dig dug|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
    |feed fed|feel felt|fight fought|find found|flee fled|fly flew flown flight|forget forgot forgotten|freeze froze frozen|get got gotten|give gave given|go went gone
    |grow grew grown growth|hang hung|hear heard|hide hid hidden|high height|hold held|keep kept|know knew known|lay laid|lead led|leave left|lend lent loan|long length
    |lose lost loss losses|make made|mean meant|meet met|melt molten|pay paid|prove proven proof|ride rode ridden|ring rang rung|rise rose risen|run ran|saw sawn|say said|see saw seen
    |seek sought|sell sold sale sales|send sent|set setting|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|shut shutting|sing sang sung song
    |sink sank sunk|sit sat|sleep slept asleep|slide slid|sow sown|speak spoke spoken speech|spend spent|spill spilt|spin spun|spread spreading|stand stood|steal stole stolen theft
    |stick stuck|strike struck|strong strength|swear sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought
    |throw threw thrown|understand understood|wake woke woken|warm warmth|wear wore worn|weave woven|weigh weight heavy|wide width|win won|wind wound|write wrote written
    |choose election elect|decide decision decided|destroy destruction|explain explanation|explode explosion|expand expansion|extend extension|include inclusion|invade invasion
    |permit permission|produce production product|receive receipt reception|reduce reduction|refuse refusal|arrive arrival|approve approval|remove removal|renew renewal|propose proposal
    |repair repaired|resign resignation|rewire rewiring|deliver delivery|discover discovery|recover recovery|analyse analysis|apply application applicant|compete competition
    |complain complaint|consume consumption|describe description|divide division|fail failure|inherit inheritance|inspect inspection inspector|install installation|judge judgment
    |measure measurement|negotiate negotiation|pay payment|prescribe prescription|publish publication|repeat repetition|replace replacement|reserve reservation|revise revision
    |solve solution|submit submission|supply supplier|suspend suspension|use usage user|vary variation|visit visitor|vote voting|child children|foot feet|tooth teeth|mouse mice
    |man men|woman women|person people|half halves|leaf leaves|knife knives|shelf shelves|life lives|die dead death|born birth|sick sickness|ill illness|disappear vanish disappearance
    |absent absence|present presence|safe safety|young youth|true truth|able ability|accurate accuracy|certain certainty|secret secrecy|urgent urgency`,
  german: `gehen ging gegangen|geben gab gegeben|nehmen nahm genommen|kommen kam gekommen|sehen sah gesehen|lesen las gelesen|essen ass gegessen|sprechen sprach gesprochen
    |treffen traf getroffen|helfen half geholfen|werfen warf geworfen|brechen brach gebrochen bruch|sterben starb gestorben tod|schreiben schrieb geschrieben|bleiben blieb geblieben
    |steigen stieg gestiegen anstieg|fallen fiel gefallen|halten hielt gehalten|lassen liess gelassen|laufen lief gelaufen|schlafen schlief|rufen rief gerufen|tragen trug getragen
    |fahren fuhr gefahren fahrt|schlagen schlug geschlagen|wachsen wuchs gewachsen wachstum|waschen wusch gewaschen|beginnen begann begonnen beginn|schwimmen schwamm|gewinnen gewann gewonnen gewinn
    |finden fand gefunden|binden band gebunden|trinken trank getrunken|sinken sank gesunken|springen sprang gesprungen|singen sang gesungen|ziehen zog gezogen umzug|fliegen flog geflogen flug
    |schliessen schloss geschlossen schliessung|verlieren verlor verloren verlust|frieren gefroren|bieten bot geboten angebot|liegen lag gelegen|sitzen sass gesessen|stehen stand gestanden
    |bitten bat gebeten bitte|heben hob gehoben|denken dachte gedacht|bringen brachte gebracht|kennen kannte gekannt|nennen nannte genannt|rennen rannte gerannt|brennen brannte gebrannt brand
    |senden sandte gesandt sendung|wissen wusste gewusst|anerkennen anerkannt anerkannte erkannte|vergeben vergab vergabe|annehmen angenommen nahm annahme|ablehnen abgelehnt lehnte ablehnung
    |anbieten bietet bot angebot|abschliessen schloss abgeschlossen abschluss|beschliessen beschloss beschlossen beschluss|entscheiden entschied entschieden entscheidung
    |unterschreiben unterschrieb unterschrieben unterschrift|verschieben verschob verschoben|betreiben betrieb betreiber|empfehlen empfahl empfohlen empfehlung|versprechen versprach versprochen
    |verbieten verbot verboten|erhalten erhielt|enthalten enthielt|entstehen entstand entstanden|bestehen bestand bestanden|verstehen verstand verstanden|bekommen bekam|zahlen zahlbar zahlung bezahlen bezahlt
    |kaufen kauf gekauft|verkaufen verkauf verkauft|liefern lieferung geliefert|pflanzen gepflanzt|pfluecken|prufen geprueft prufung gepruft|bauen gebaut bau|backen gebacken|kochen gekocht
    |messen mass gemessen messung|wiegen wog gewicht|dauern dauer|breit breite|lang lange|hoch hohe hoher|tief tiefe|warm warme|kalt kalte|stark starke|gross grosse|nah nahe|schwach schwache
    |krank krankheit|gesund gesundheit|sicher sicherheit|arbeiten arbeit|tun tat getan|treten trat getreten|leihen lieh geliehen ausleihe|steht stehen|giessen goss gegossen|reissen riss gerissen
    |schneiden schnitt geschnitten|entladen|leiten leitung leiter|mieten miete mieter|nutzen nutzung genutzt|sperren sperrung gesperrt|wahlen wahl gewahlt|spenden spende|turen tur`,
  french: `mettre mis mise mettent met|remettre remis remise remettent|permettre permis|promettre promis promesse|prendre pris prise prennent|apprendre appris|comprendre compris|reprendre repris reprise
    |dire dit|ecrire ecrit|lire lu|voir vu|recevoir recu reception|devoir du|pouvoir pu|vouloir voulu|savoir su|venir venu vient|tenir tenu tient|obtenir obtenu obtient|devenir devenu|partir parti part depart
    |sortir sorti|ouvrir ouvert ouverture|offrir offert offre|couvrir couvert|decouvrir decouvert|souffrir|mourir mort|naitre ne naissance|vivre vecu|suivre suivi|conduire conduit|construire construit construction
    |produire produit production|reduire reduit reduction|detruire detruit|traduire traduit traduction|rendre rendu|vendre vendu vente|perdre perdu perte|attendre attendu|repondre repondu reponse
    |descendre descendu|battre battu|connaitre connu|paraitre paru|croire cru|boire bu|faire fait|choisir choisi choix|finir fini fin|fournir fourni|remplir rempli|elire elu election|resoudre resolu
    |eteindre eteint|peindre peint peinture|joindre joint|craindre craint|leger legers allege alleges alleger|lourd alourdir|long longueur longue|large largeur|haut hauteur|profond profondeur
    |chaud chaleur|froid|lier lie liaison|payer paie paiement|acheter achat achete|essayer essai|envoyer envoi envoye|employer emploi|nettoyer nettoyage|arreter arret|depart partir|retourner retour
    |travail travaux travailler|oeil yeux|cheval chevaux|animal animaux|journal journaux|local locaux|tirer tir tire|vol voler|don donner|annuler annulation|percer percage percerait`,
  spanish: `hacer hizo hecho hicieron|poner puso puesto pusieron|decir dijo dicho|tener tuvo|venir vino|estar estuvo|poder pudo|querer quiso|saber supo|traer trajo|conducir condujo|producir produjo produccion
    |reducir redujo reduccion|traducir tradujo traduccion traductor|abrir abierto apertura|escribir escrito|romper roto rotura|volver vuelto vuelve|ver visto|morir muerto murio muerte|cubrir cubierto|resolver resuelto
    |pedir pidio pide|servir sirvio sirve|seguir siguio sigue|elegir eligio elige eleccion|repetir repitio repite|dormir durmio|sentir sintio|mentir|preferir prefirio prefiere|perder pierde perdida
    |cerrar cierra cierre cerro|empezar empieza|comenzar comienza comienzo|pensar piensa|calentar calienta|sembrar siembra|regar riega riego|probar prueba|contar cuenta|encontrar encuentra|mostrar muestra
    |costar cuesta coste|colgar cuelga|soltar suelta|mover mueve|llover llueve lluvia|jugar juega juego|leer leyo lectura|caer cayo caida|construir construyo construye construccion|incluir incluyo incluye
    |destruir destruyo|sustituir sustituyo sustituye sustitucion|ir fue iba va|dar dio|sumergir sumerja|largo longitud|ancho anchura|alto altura|hondo profundo profundidad|caliente calor|frio
    |pagar pago|comprar compra|vender venta|enviar envio|viajar viaje|trabajar trabajo|averiar averia averiada|reparar reparacion|medir mide medicion|entregar entrega|avisar aviso|instalar instalacion
    |obligar obliga obligacion obligatorio|arrancar arranque arranca|utilizar uso usar`,
};

/**
 * Reads lists of groups as they are written here.
 * @returns by the stem of a word, those of all words of its groups, its own among them
 */
export function formsByStem(
  language: ListedLanguage,
  stemOf: (word: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const group of WORD_FORMS[language].split("|")) {
    const stems = (group.match(/\S+/g) ?? []).map(stemOf);
    for (const stem of stems) groups.set(stem, [...(groups.get(stem) ?? []), ...stems]);
  }
  return groups;
}

/** A value of each language, made when it is first asked for. */
export function byLanguage<T>(
  make: (language: ListedLanguage) => T,
): (language: ListedLanguage) => T {
  const made = new Map<ListedLanguage, T>();
  return (language) => {
    const known = made.get(language) ?? make(language);
    made.set(language, known);
    return known;
  };
}
