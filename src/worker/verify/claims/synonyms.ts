import { stemIn } from "./terms.ts";
import type { ClaimLanguage } from "./terms.ts";
import { FIELD_SYNONYMS } from "./field-synonyms.ts";
import { groupsByStem, WORD_FORMS } from "../../text/word-forms.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";

/**
 * Words that say the same of most subjects, folded, a group between bars: what a careful writer may put for the other. Never
 * two that differ in degree, number or direction.
 */
const GROUPS: Readonly<Record<ListedLanguage, string>> = {
  english: `begin start commence started beginning|end finish stop cease expire ended|close shut closed|buy purchase bought acquire obtain
    |repair fix mend fixed|choose pick select chose chosen|allow permit allowed permitted|forbid prohibit ban forbidden banned prohibited
    |need require necessary must needed required|show display|build erect construct built put|cheap inexpensive|price cost charge fee cost
    |pay settle paid|employee worker staff employees|car vehicle automobile|lorry truck|phone telephone|mail email e-mail message
    |doctor physician|pupil student schoolchild|child children kid kids|house home building|shop store|firm company business
    |holiday vacation leave|job task work|error fault bug defect|damage damaged harm harmed hurt injured|broken faulty defective
    |answer reply respond response|help assist support|ask request inquire demand requested|give provide supply grant hand
    |get receive obtain gain|send dispatch ship deliver|remove delete take withdraw|replace exchange substitute swap
    |change alter modify amend|check inspect examine verify test inspected|measure gauge|find discover detect found
    |lead head run direct manage lead|write compose wrote written author|sign signed signature|meet meeting met session
    |increase rise grow climb rose grew risen|decrease fall drop decline fell|reduce lower cut cheaper|big large great
    |small little tiny|fast quick rapid|old aged former|new fresh recent|important significant major|correct right accurate
    |wrong incorrect false|empty vacant|full complete|keep retain store hold kept preserve|last continue take|happen occur
    |appear emerge turn|visit attend|leave depart left departure|arrive reach come arrival|return revert back|move shift relocate
    |join enter|own possess belong|rent lease let|tenant lessee renter|landlord lessor owner|insurance insurer insurers
    |fire blaze|rain rainfall|wind gust gusts|road street lane|ship boat vessel|trip journey crossing voyage tour|ticket fare
    |train railway|bike bicycle cycle|food meal|drink beverage|money funds cash|amount sum|whole entire total|part portion share
    |area field region zone|town city|country nation|place site location spot|top upper|bottom lower|night overnight
    |weekly week|daily day|monthly month|yearly annual annually year|free gratis charge|valid apply applies effective force
    |contain include comprise hold|consist made|use employ utilise apply|because since as due owing|reason cause
    |plan intend propose want aim|possible can may|likely probably presumably|although though despite|also too additionally
    |only just solely|about roughly approximately around|quarter three|author writer|report account|rule regulation|law act
    |vote ballot|agree accept approve consent approval|refuse reject decline turned|object oppose against|propose suggest recommend
    |fail fails failed work|crash crashed|restart reboot|disable switch turn|enable activate switch|install fit mount set fitted mounted
    |connect link attach|separate split|supplier vendor provider|customer client buyer|member subscriber|leader head chair
    |chair chairman chairwoman preside|treasurer cash|grant subsidy|loan credit|budget funds|salary wage pay|tax vat levy
    |backup reserve spare|spare replacement|instruction guide manual|safe secure|danger hazard risk|ill sick unwell|medicine drug medication
    |wet damp moist|dry dried drying|hot warm heated|cold cool chilled|clean wash cleaned|dirty soiled|soft tender|hard firm
    |mix stir blend|cook simmer boil|bake oven baked|cut slice chop sliced|add put include|pour tip|seed sow sown sowing|plant crop
    |harvest pick yield|grow cultivate|water irrigate|slug snail|fish catch|sheet page leaf|book volume|print printed copy
    |picture image photo photograph|exhibition show|film movie|song chorus choir|game match|team side|goal aim|win won victory
    |teach teacher lesson|learn study|school class|exam test|question query|problem trouble issue|storage memory disk|folder directory
    |file document|delete erase remove|user account person|password passphrase|log record recorded|alarm alert warning|outage failure downtime
    |server host machine node|request call|delay late postponed delayed|wait pause|interval frequency|limit maximum cap|minimum least
    |version release edition|export output|import input|search lookup find|name title called|number count|row line|column field
    |approve approval consent|landlady landlord|workshop bindery|toilet lavatory|shelf shelves bookcase|roof attic|cellar basement`,
  german: `beginnen starten anfangen begann beginn start|enden aufhoren ablaufen endet|kaufen erwerben beziehen gekauft|reparieren instandsetzen reparatur
    |wahlen aussuchen entscheiden|erlauben gestatten zulassen erlaubt gestattet|verbieten untersagen verboten untersagt|brauchen benotigen erfordern
    |zeigen anzeigen|bauen errichten erstellen|preis kosten gebuhr entgelt|zahlen bezahlen entrichten beglichen|mitarbeiter angestellte beschaftigte
    |auto wagen fahrzeug pkw|telefon handy|mail email nachricht|arzt mediziner|schuler schulkind|haus gebaude|laden geschaft|firma unternehmen betrieb
    |urlaub ferien|aufgabe arbeit|fehler defekt storung|schaden beschadigung beschadigt|kaputt defekt|antwort antworten erwidern|helfen unterstutzen
    |bitten fragen anfragen|geben gewahren erteilen|erhalten bekommen empfangen|senden schicken versenden liefern|entfernen loschen beseitigen
    |ersetzen austauschen tauschen|andern anpassen modifizieren geandert|prufen kontrollieren testen gepruft|messen|finden entdecken feststellen
    |leiten fuhren|schreiben verfassen verfasst|unterschreiben unterzeichnen|sitzung treffen versammlung|steigen zunehmen anwachsen|sinken fallen abnehmen
    |senken verringern reduzieren|gross umfangreich|klein gering|schnell rasch zugig|alt fruher|neu frisch|wichtig bedeutend|richtig korrekt|falsch fehlerhaft
    |leer unbesetzt|voll komplett|behalten aufbewahren lagern gelagert eingelagert|dauern|passieren geschehen ereignen|besuchen teilnehmen|verlassen abfahren abfahrt
    |ankommen eintreffen ankunft|zuruck ruckgabe|eigentum besitz gehoren|mieten pachten|mieter pachter|vermieter verpachter|versicherung versicherer
    |brand feuer|regen niederschlag|strasse weg|schiff boot|reise fahrt tour|fahrkarte ticket|fahrrad rad|essen mahlzeit speise|geld mittel|betrag summe
    |ganz gesamt|teil anteil|gebiet bereich flache|stadt ort|stelle platz standort|wochentlich woche|taglich tag|monatlich monat|jahrlich jahr
    |kostenlos gratis frei unentgeltlich|gultig gelten|enthalten umfassen beinhalten inbegriffen|verwenden benutzen nutzen gebrauchen|grund ursache
    |planen beabsichtigen vorhaben|wahrscheinlich vermutlich|obwohl trotz|auch ebenfalls zudem|nur lediglich bloss|etwa rund circa ungefahr
    |verfasser autor|bericht protokoll|regel vorschrift|abstimmen abstimmung|zustimmen annehmen genehmigen billigen|ablehnen zuruckweisen verweigern
    |vorschlagen empfehlen anregen|ausfallen versagen ausgefallen|deaktivieren abschalten ausschalten|aktivieren einschalten|einbauen installieren montieren montage
    |verbinden anschliessen|lieferant anbieter|kunde auftraggeber|mitglied|vorsitz vorsitzende leiter|kasse kassierer|zuschuss forderung|gehalt lohn
    |steuer mehrwertsteuer umsatzsteuer|ersatz reserve|anleitung handbuch|sicher|gefahr risiko|krank erkrankt|medikament arznei|nass feucht|trocknen trocken
    |kochen garen|backen gebacken|schneiden|mischen verruhren|aussaat saen|ernte|bild foto|ausstellung|spiel partie|gewinnen sieg|frage|problem
    |verzogern verspaten verspatet|grenze limit|name bezeichnung|zimmer raum|datum tag|ausstellen rechnungsdatum ausgestellt|annahme|bestellen auftrag
    |entsorgung entsorgen|gerat gerate apparat|abgeben uberreichen|patient|operation operieren operiert eingriff|entlassung entlassen`,
  french: `commencer debuter demarrer debut|finir terminer achever cesser fin|fermer clore|acheter acquerir|reparer reparation remettre|choisir retenir selectionner
    |permettre autoriser autorise|interdire prohiber defendre|falloir necessiter exiger|montrer afficher|construire batir eriger|prix cout tarif montant
    |payer regler verser|employe salarie|voiture vehicule auto|telephone portable|courriel mail message|medecin docteur|eleve ecolier|maison batiment
    |magasin boutique|entreprise societe firme|vacances conge|tache travail|erreur faute defaut|dommage degat abime|casse panne defectueux
    |reponse repondre|aider soutenir|demander solliciter|donner fournir accorder octroyer|recevoir obtenir|envoyer expedier livrer|enlever supprimer retirer
    |remplacer changer echanger|modifier changer|verifier controler tester|trouver decouvrir|diriger mener|ecrire rediger redige|signer signature
    |reunion seance assemblee|augmenter croitre monter|diminuer baisser reculer|reduire baisser alleger leger|grand gros|petit|rapide vite|vieux ancien
    |nouveau neuf recent|correct exact|faux incorrect|vide|plein complet|garder conserver|durer|arriver survenir produire|visiter|partir quitter depart
    |arriver arrivee|revenir retour|locataire|bailleur proprietaire|assurance assureur|incendie feu|pluie|vent|rue route|bateau navire|voyage trajet
    |billet ticket|train|velo bicyclette|repas|argent fonds|somme montant|entier total|partie part|zone secteur|ville|lieu endroit site
    |hebdomadaire semaine|quotidien jour|mensuel mois|annuel an|gratuit|valable valide|contenir comprendre inclure|utiliser employer servir utilisable
    |raison cause|prevoir envisager|probablement|bien malgre|aussi egalement|seulement uniquement|environ quelque|auteur|rapport|regle reglement|vote scrutin
    |accepter approuver|refuser rejeter|proposer recommander|tomber panne|desactiver couper|activer allumer|installer poser monter|raccorder relier
    |fournisseur|client|adherent membre|president presider|tresorier|subvention|salaire|taxe tva|secours reserve|notice manuel|danger risque|malade
    |medicament|humide mouille|sec secher|chaud|froid|nettoyer laver|melanger|cuire cuisson|couper|ajouter|semer|recolte|photo image|exposition
    |match jeu|gagner victoire|question|probleme|retard|delai|nom|pendant durant|remettre remis donner|cheque|installateur`,
  spanish: `empezar comenzar iniciar inicio|terminar acabar finalizar|cerrar clausurar|comprar adquirir|reparar arreglar reparacion|elegir escoger
    |permitir autorizar|prohibir vedar|necesitar requerir precisar|mostrar|construir levantar|precio coste tarifa importe|pagar abonar|empleado trabajador
    |coche vehiculo auto|telefono movil|correo mensaje|medico doctor|alumno estudiante|casa edificio|tienda comercio|empresa compania|vacaciones
    |tarea trabajo|error fallo averia|dano danado|roto averiado estropeado|respuesta responder|ayudar|pedir solicitar|dar conceder otorgar|recibir obtener
    |enviar mandar entregar|quitar eliminar retirar|sustituir cambiar reemplazar|modificar cambiar|comprobar revisar verificar revision|encontrar descubrir
    |dirigir llevar encargarse cargo|escribir redactar|firmar firma|reunion junta sesion|aumentar subir crecer|disminuir bajar caer descenso|reducir rebajar
    |grande|pequeno|rapido|viejo antiguo|nuevo reciente|correcto|falso|vacio|lleno completo|guardar conservar|durar|ocurrir suceder|visitar|salir partir
    |llegar llegada|volver regreso|alquilar arrendar|inquilino arrendatario|arrendador arrendadora propietario propietaria casero|seguro aseguradora
    |incendio fuego|lluvia|viento|calle|barco|viaje|billete entrada|tren|bicicleta|comida|dinero|cantidad suma|entero total|parte|zona|ciudad|lugar sitio
    |semanal semana|diario dia|mensual mes|anual ano|gratis gratuito|valido vigente|contener incluir|usar utilizar emplear|razon causa motivo|prever planear
    |probablemente|aunque|tambien|solo unicamente|aproximadamente unos|autor|informe|regla norma|votar votacion|aceptar aprobar|rechazar denegar|proponer recomendar
    |desactivar apagar|activar encender|instalar colocar montar|conectar|proveedor|cliente|socio miembro|presidir presidente|tesorero|subvencion ayuda
    |sueldo salario|impuesto iva|reserva repuesto|manual|peligro riesgo|enfermo|medicamento|humedo mojado|seco secar|caliente|frio|limpiar lavar
    |mezclar|cocer coccion|cortar|anadir|sembrar|cosecha|foto fotografia|exposicion|partido juego|ganar|pregunta|problema|retraso|plazo|nombre|piso vivienda
    |tecnico operario|atrapado encerrado`,
};

/** By stem, the stems of its groups. */
const synonymsIn = (language: ListedLanguage): ReadonlyMap<string, readonly string[]> =>
  groupsByStem([GROUPS[language], FIELD_SYNONYMS[language], WORD_FORMS[language]], (word) =>
    stemIn(word, language),
  );

const SYNONYMS: Readonly<Record<ListedLanguage, ReturnType<typeof synonymsIn>>> = {
  english: synonymsIn("english"),
  german: synonymsIn("german"),
  french: synonymsIn("french"),
  spanish: synonymsIn("spanish"),
};

/** Stems of words that may stand for a word, without its own. */
export const synonymsOf = (stem: string, language: ClaimLanguage | null): readonly string[] =>
  language === "japanese" ? [] : (SYNONYMS[language ?? "english"].get(stem) ?? []);
