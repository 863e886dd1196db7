import type { ListedLanguage } from "../../text/word-forms.ts";

/** More words that say the same of most subjects, by trade and field: see synonyms.ts, whose rules hold here. */
export const FIELD_SYNONYMS: Readonly<Record<ListedLanguage, string>> = {
  english: `
    |reuse use|upright vertical|set-up setup|prolong extend extension renew lengthen|sublet subletting underlet
    |consent approval permission agreement|hit affect suffer|blame cause fault responsible|reason cause ground
    |poor bad low weak|refuse decline reject turned|fine good|discuss discussion talk consider debate|think believe consider reckon
    |intend plan want mean wish like|observe watch monitor|observer surveyor watcher|appear emerge|add include insert
    |omit exclude skip|thin narrow slim|thick wide|broad wide|dear expensive costly pricey|cheap affordable
    |bear pay shoulder carry cover borne bore|insurer insurance|aperture diameter|output power capacity|run operate function work|operator owner manager
    |customer buyer|seller vendor|drive driver|rider cyclist biker|wound injure injury hurt|uninjured unhurt|wear worn|fracture break
    |device unit appliance machine equipment apparatus gadget|item article piece object product|clog block
    |switch turn shut|spare extra additional|buy buying purchase acquisition|raise increase lift hike|shorten cut reduce|widen broaden|lengthen extend
    |speed pace|near close next beside|far distant remote|begin launch open|finish conclude complete|halt stop suspend|resume restart continue
    |delay postpone defer put|cancel call scrap abandon|fix set determine agree|assess evaluate judge rate|compare set|count number total
    |estimate reckon put assess|calculate compute work|record log note register enter|report tell inform notify announce|explain account clarify
    |claim state assert say argue|admit concede confess|deny reject dispute|warn alert caution|advise recommend counsel suggest|urge press call
    |demand require call ask|order command instruct request|obey follow comply|break violate breach infringe|punish fine penalise
    |protect guard shield defend|save rescue|hide conceal cover|search seek look hunt|gather collect assemble|share divide split distribute|hand pass give
    |carry transport bring convey move|load fill|unload empty discharge|store keep stow hold|throw discard bin dump|waste rubbish refuse garbage trash
    |tree trees|wood timber|stone rock|metal iron steel|glass pane|cloth fabric textile material|paint colour coat|colour color|smell odour scent
    |noise sound|silent quiet mute|loud noisy|bright light|dark dim|clear plain evident|strange odd unusual|usual normal common ordinary regular standard
    |rare scarce uncommon|main chief principal primary|minor small slight|huge vast enormous|exact precise|whole complete|single sole one
    |double twice twofold|half fifty|sufficient enough adequate|lack shortage want|surplus excess|profit gain earnings|loss deficit shortfall
    |income revenue earnings turnover|expense cost expenditure spending|debt liability|invoice bill|receipt voucher|bank account|tax duty
    |discount rebate reduction|deposit bond advance|owner proprietor|manager boss director head|official officer|police officer|judge court
    |lawyer solicitor attorney counsel|nurse carer|surgery operation procedure|hospital clinic ward|pain ache sore|fever temperature|drug medicine
    |dose amount quantity|swelling swollen|infection infected|allergy allergic|fall fell tumble|walk march|climb ascend|swim bathe|sail cruise|fly flight
    |land touchdown|harbour port dock|anchor anchorage moor|captain skipper|crew team|guest visitor client|room chamber|floor storey level
    |stair stairs step|door gate entrance entry|exit way|window pane|garden yard plot|field meadow|farmer grower|crop yield harvest|animal beast|dog hound
    |bird fowl|bee bees|hive colony|nest brood|species kind sort|count census survey|sample specimen|laboratory lab|device instrument|sensor probe
    |reading value measurement figure|average mean|result outcome finding|study trial experiment test|proof evidence|method procedure process
    |step stage phase|rate pace speed|ratio share proportion percentage|degree level|rise climb increase growth|fall drop decrease decline|trend tendency
    |teacher instructor tutor|headteacher head principal|governor board|council authority|committee panel board|chairperson chair chairman|secretary clerk
    |majority most|unanimous unanimously all|museum gallery|concert performance|play drama|actor performer|singer vocalist|painter artist|novel book
    |chapter section|edition version|publisher press|translate translation translator|backup copy|restore recover|crash fail|hang freeze|bug fault
    |patch fix update|upgrade update|deploy release roll|configure set|setting option parameter|default standard|server host|network net|gateway router
    |certificate cert|expire lapse run|renew refresh|cache store|queue backlog|retry repeat attempt try|timeout limit|drop discard lose lost
    |skip omit ignore|merge combine join|mobile phone cell|webpage site page|link url|click press|button key|screen display|paper sheet|ink toner
    |cable lead wire|plug socket outlet|battery cell|charge load|lamp light bulb`,
  german: `
    |zahlung bezahlung begleichung|schaden beeintrachtigt betroffen beschadigt|gerat apparat maschine anlage einheit|verlangern verlangerung ausdehnen
    |grund ursache anlass|ausgelost verursacht|stumm lautlos still|garantie gewahrleistung|hersteller produzent fabrikant|gewahren bieten geben einraumen
    |verschenken schenken abgeben uberlassen|nachlass erbe|grossvater opa|bedingung voraussetzung auflage|kneten durchkneten|teig masse
    |abdecken bedecken zudecken|ruhen gehen rasten|eintritt zutritt|karte ticket|kind kinder|erwachsene erwachsener|kabel leitung
    |inbegriffen enthalten eingeschlossen inklusive|vergeben erteilen|verein club|mitglied angehoriger|beitrag jahresbeitrag|mahnen anmahnen
    |vorstand leitung|boot schiff kahn|sitzung tagung zusammenkunft|hochwasser uberschwemmung|gesperrt geschlossen|probe muster|grenzwert hochstwert
    |uberschreiten ubersteigen|nachweisen feststellen finden gefunden|untersuchen prufen analysieren|untersuchung prufung analyse|ergebnis befund resultat
    |patient kranker|klinik krankenhaus spital|schmerz beschwerden|wunde verletzung|gestorben verstorben tot|arzt arztin|pflege betreuung|tablette pille
    |fieber temperatur|hautausschlag ausschlag|kuhlraum kuhlhaus kuhlkammer|alarm warnung|akku batterie|strom elektrizitat|ausfall storung|klingeln lauten
    |lager depot|obst fruchte|entsorgt weggeworfen vernichtet|anerkennen akzeptieren ubernehmen|selbstbeteiligung selbstbehalt eigenanteil
    |tragen ubernehmen|lieferzeit lieferfrist|lieferung zustellung|liefern zustellen|anschrift adresse|zweigstelle filiale niederlassung
    |hauptstelle zentrale|engpass knappheit mangel|preis betrag|rabatt nachlass skonto|rechnung faktura|zahlbar fallig|frist termin|laufzeit dauer
    |kundigung kundigen|wohnung unterkunft|zimmer raum|kaution sicherheit|art spezies|flache parzelle|unterschied differenz|zahl anzahl menge
    |durchschnitt mittel mittelwert|steigerung zunahme anstieg|ruckgang abnahme|verdoppelt doppelt|gleich identisch|verschieden unterschiedlich
    |hauptsachlich vorwiegend|bald demnachst|sofort umgehend unverzuglich|nachts nacht|morgens morgen|abends abend|mittags mittag|samstag sonnabend
    |abfahren starten losfahren|ankommen eintreffen|bahnhof station|zug bahn|strecke route|entfernung distanz|geschwindigkeit tempo|unfall ungluck
    |fahrer lenker|rad fahrrad|bremse bremsen|reparieren instandsetzen ausbessern|austausch ersatz wechsel|wechseln tauschen|einrichten installieren
    |aktualisieren update|sichern speichern sicherung|loschen entfernen|passwort kennwort|benutzer nutzer anwender|rechner computer|ordner verzeichnis
    |version ausgabe fassung|buch band|schrift text|ausleihen leihen|bucherei bibliothek|lehrer lehrkraft|prufung klausur|gemeinde kommune|stadtrat rat
    |antrag gesuch|genehmigung erlaubnis bewilligung|forderung zuschuss beihilfe|haushalt etat budget|ausgaben kosten|einnahmen erlos ertrag
    |gewinn uberschuss|verlust defizit|spende zuwendung|veranstaltung event|fest feier|konzert auftritt|teilnehmer teilnehmerin|anmelden anmeldung
    |absagen abgesagt ausfallen|verlegen verschieben|regen niederschlag|gewitter unwetter|kalte frost`,
  french: `
    |remettre donner deposer|au-dessus plus|adherent membre inscrit|tresoriere tresorier|payer reglement paiement|fois reprises|restauration retablissement
    |script programme|succes reussite|disque dur|plein sature|annuler supprimer|course epreuve|tirer lancer|vent rafale|barriere cloture|preter pret
    |demander requete demande|voisin voisine|travaux chantier|percer percage|client cliente|electricien electricienne|salle piece|logement appartement
    |proprietaire bailleur|caution garantie|difference ecart|nombre quantite|hausse augmentation|baisse diminution recul|identique meme
    |principalement surtout|bientot prochainement|aussitot immediatement|gare station|trajet parcours|distance eloignement|conducteur chauffeur
    |atelier garage|remplacement echange|sauvegarder sauvegarde copie|effacer supprimer|utilisateur usager|ordinateur machine|dossier repertoire
    |version edition|livre ouvrage|bibliotheque mediatheque|enseignant professeur|examen epreuve|commune municipalite mairie|autorisation permis
    |subvention aide|depense frais cout|recette revenu|benefice gain|perte deficit|inscription inscrire|reporter repousser differer|chaleur canicule
    |appareil machine dispositif|boite caisse|semaine hebdomadaire|maraicher producteur|livraison livrer|cueillir recolter|arroser arrosage|couper trancher
    |cuire cuisson|rincer laver|eplucher peler|doux sucre|repos reposer|rondelle tranche|patient malade|hopital clinique|douleur mal|blessure lesion
    |traitement soin|examen analyse|prelevement echantillon|valeur taux|limite seuil|depasser exceder|normal habituel|cause raison motif
    |entrainer causer provoquer|decider decision|confirmer confirmation|refuser refus|accepter accord|garder conserver|montant somme|facture note
    |remise rabais reduction|date jour|contrat convention|obligation devoir|interdit defendu`,
  spanish: `
    |bajar sumergir descender|sujetar colgar agarrar|cuerda soga|arrancar marcha encender|parar detener|salta saltado disparar|protector proteccion
    |climatizacion aire|sustituir cambiar|estropeada averiada|marchado fue ido|plaza aparcamiento|garaje cochera|aparte separado|mensual mes
    |obliga debe tiene|presentarse llegar acudir|encerrado atrapado|averia fallo|causar provocar originar deber|cubrir tapar|horno hornear|pieza unidad
    |precio tarifa|pedir encargar|pedido encargo|vecino propietario|propietario dueno|cuota pago|obra obras|antelacion anticipacion|contrato acuerdo
    |renta alquiler|fianza deposito|arrendatario inquilino|arrendador casero|reparacion arreglo|ave pajaro|censo recuento|embalse pantano|numero cantidad
    |media promedio|subida aumento|bajada descenso|igual mismo|sobre principalmente|trayecto recorrido|conductor chofer|cambio sustitucion|guardar copia
    |borrar eliminar|contrasena clave|ordenador computadora|carpeta directorio|version edicion|libro obra|escuela colegio|maestro profesor|examen prueba
    |ayuntamiento municipio|permiso autorizacion licencia|subvencion ayuda|gasto coste|beneficio ganancia|perdida deficit|aplazar posponer|cancelar anular
    |aparato dispositivo equipo maquina|verdura hortaliza|cosecha recoleccion|regar riego|cocer hervir|paciente enfermo|hospital clinica|herida lesion
    |limite tope|superar exceder|normal habitual|razon motivo|decidir decision|importe cantidad|descuento rebaja|fecha dia|obligacion deber|barrio zona
    |calle via|suelo piso`,
};
