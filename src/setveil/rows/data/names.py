"""Names of columns: persons, events, items, dates, amounts, sexes and places.

They are compared as small words without accents, in English, German, French, Spanish and Italian. Names of
persons say whom a line is about. Names of events (orders, stays) do not, although their values are IDs.
Dates, amounts and sexes are never IDs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

_NUMBER = (
    r"(ids?|uuid|guid|nr|no|nos|num|number|nummer|numero|nbr|key|refs?|reference|hash|token|identifier"
    r"|identifiant"
    r"|identificador|identificativo|identificativi|kennung|kennzeichen|kennziffer|schluessel|pseudonym"
    r"|pseudo|seudonimo"
    r"|codigo|codice)"
)
# By the English noun that messages use: words and abbreviations of all languages. The first that fits counts.
_PERSONS: Mapping[str, str] = {
    "patient": r"patient(en|e|es|in|innen|s)?|pat|pts?|pacientes?|pazient[ei]|assistit[oaie]|degent[ei]"
    r"|malades?|kassenpatient(en|in|innen)?",
    "customer": r"customers?|cust|clients?|clientes?|client[ei]|cli|kunden?|kundin(nen)?|kd|buyers?|shoppers?"
    r"|kaeufer|acheteurs?|compradore?s?|acquirent[ei]",
    "user": r"users?|anon|benutzer|nutzer|anwender|usagers?|utilisateurs?|usuari[oa]s?|utent[ei]|visitors?"
    r"|besucher|visiteurs?|visitantes?|visitator[ei]",
    "member": r"members?|mitglied(er|s)?|mitgl|membres?|miembros?|soci[oa]?s?|membr[oi]|adherents?|abonnes?"
    r"|subscribers?|abonnent(en)?|abonad[oa]s?|abbonat[oaie]|affiliates?|afiliad[oa]s?|tesserat[oaie]"
    r"|iscritt[oaie]",
    "subject": r"subjects?|subj|respondents?|participants?|participantes?|partecipant[ei]|proband(en)?"
    r"|teilnehmer"
    r"|sujets?|sujetos?|soggett[oi]|panelists?|donors?",
    "insured person": r"versicherten?|insured|insurance|insurant|insuree|enrollees?|enrol|bene|assures?"
    r"|beneficiar(y|ies|i|i?[oa]s?)|beneficiaires?|leistungsempfaenger|asegurad[oa]s?|assicurat[oaie]",
    "student": r"students?|schueler|studierenden?|etudiants?|eleves?|estudiantes?|alumn[oa]s?|student[ei]",
    "employee": r"employees?|emp|mitarbeiter|personal|employes?|emplead[oa]s?|dipendent[ei]|salarie"
    r"|trabajador(a|as|es)?",
    "person": r"person(en|s|ne|nes|a|as|e)?|pers|people|individuals?|individus?|individuos?|individu[oi]"
    r"|citizens?|buerger|citoyen(ne)?s?|ciudadan[oa]s?|cittadin[oaie]|contribuent[ei]|titulaires?"
    r"|titular(es)?",
}
_PEOPLE = "(" + "|".join(_PERSONS.values()) + ")"
_PAPERS = (  # what belongs to one person, or to few
    r"(accounts?|acct|konto|compte|cuenta|polic[ey]|police|poliza|polizza|medical ?record|health ?card"
    r"|social ?security|securite ?sociale|seguridad ?social|sozialversicherungs?|krankenversicherten"
    r"|krankenversicherungs?|rentenversicherungs?|passport|reisepass|pasaporte|passaporto|ausweis|tax|steuer"
    r"|fiscal|fiscale|national|nhs|ahv|mrn|historia( ?clinica)?|expediente|cartella ?clinica|tessera|tarjeta"
    r"|carte|secu|dossiers?|akten?)"
)
_SOMEBODY = rf"({_PEOPLE}|{_PAPERS})"
_EVENTS: Mapping[str, str] = {
    "order": r"orders?|auftr(ags?)?|bestell(ung|ungs|ungen)?|commandes?|pedidos?|ordin[ei]",
    "invoice": r"invoices?|rech(nungs?)?|factures?|facturas?|fattur[ae]",
    "receipt": r"receipts?|bons?|kassenbons?|belegs?|tickets?( caisse)?|scontrin[oi]|recus?|recibos?"
    r"|quittung(en)?|ricevut[ae]",
    "basket": r"baskets?|carts?|warenkorb|warenkoerbe|paniers?|cestas?|carrell[oi]",
    "purchase": r"purchases?|einkaufs?|kaufs?|achats?|compras?|ventas?|acquist[oi]|vendit[ae]",
    "transaction": r"transactions?|trans|tx|txn|transaktions?|buchungs?|bookings?|transaccion(es)?"
    r"|transazion[ei]|prenotazion[ei]|reservas?",
    "delivery": r"lieferschein(e|s)?|albaran(es)?",
    "prescription": r"rezept(e|s)?|ricett[ae]|ordonnances?|recetas?",
    "stay": r"stays?|hadm|aufenthalts?|sejours?|estancias?|ricover[oi]|degenz[ae]|hospitali[sz]ations?"
    r"|nda|sdo",
    "admission": r"admissions?|aufnahmen?|aufn|ingresos?|ammission[ei]",
    "encounter": r"encounters?|kontakts?|episodes?|episodios?|episod[io]|consultations?|consultas?",
    "visit": r"visits?|besuchs?|visites?|visitas?|visit[ae]|passages?|konsultation(en|s)?|rdv|citas?"
    r"|access[oi]|atencion(es)?|urgencias?",
    "case": r"cases?|fall|faelle|cas|casos?|cas[oi]|vorgangs?|vorgaenge",
    "claim": r"claims?|schadens?|sinistres?|reclamaciones?|reclamacion",
    "session": r"sessions?|sitzungs?|sesion(es)?|session[ei]",
    "row": r"records?|rows?|lines?|zeilen?|lfd|entry|entries|lignes?|filas?|rig[ah]e?",
}
_RECORD = "(" + "|".join(_EVENTS.values()) + ")"
_WHOLE = (
    r"(ids?|uuid|guid|mrn|ssn|nir|nif|dni|nie|curp|ahv|svnr|kvnr|matricule|matrikel|matricula|matricola"
    r"|identifier|identifiant|identificador|identificativo|kennung|pseudonym|pseudo|nhc|ipp|usubjid|subjid"
    r"|enrolid|cod(ice)? ?fisc(ale)?|historia clinica|(tessera|tarjeta) sanitaria|(kv|sv|vers) ?(nr|nummer)"
    r"|(matr|matrikel) ?(nr|nummer))"
)
# Names of columns are few, so these are compiled only when one is looked at.
_OF = r"((de|du|d|des|der|del|della|di|la|el|l) )*"
_FIRST = rf"((cod|code) ?{_OF}|(n|n o) ?{_OF}(?!.*[si]$))"  # of one: n_patients counts them
_PERSON_ID = (
    rf"({_PEOPLE} )?{_WHOLE}|{_SOMEBODY} ?{_NUMBER}|{_NUMBER} ?{_OF}{_SOMEBODY}(?<!s)|{_FIRST}{_SOMEBODY}"
)
_NUMBERED_EVENT = rf"(.* )?{_RECORD} ?{_NUMBER}|{_NUMBER} ?{_OF}{_RECORD}"
_EVENT_ID = rf"(.* )?{_RECORD}|{_NUMBERED_EVENT}"
_MAY_BE_ID = (
    rf"(.* )?({_NUMBER}|[psu]id|code|n|index|idx)|({_NUMBER}|n)( .*)|{_RECORD} ?{_NUMBER}"
    rf"|{_SOMEBODY}|{_RECORD}"
    r"|(.* )?(names?|nom|prenom|surname|firstname|lastname|vorname|nachname|nombres?|apellidos?|nome|cognome"
    r"|(e ?)?mails?|correo|phone|tel|telephone|telefon|telefono|mobile|movil|cellulare|handy|fax|address"
    r"|adresse"
    r"|anschrift|direccion|indirizzo)( .*)?"
)
_COUNTED = rf".* {_NUMBER}"
_HOME = (  # parts of an address
    r"zip|zip ?codes?|plz|postal ?codes?|post ?codes?|postleitzahl|code postal|codice postale|cod ?postal"
    r"|codigo postal|cap|cp|c p|residenza|poblacion|city|town|stadt|ville|ciudad|citta|ort|wohnort"
    r"|commune|comune|municipio|gemeinde|states?|bundesland|land|country|pays|pais|paese|region|regione"
    r"|county|kreis|canton|kanton|district|bezirk|departement|provincia|province|street|strasse|rue|calle"
    r"|via"
)
_PLACE = (
    rf"(.* )?({_HOME}|department|abteilung|hospital|clinic|klinik|hopital|ospedale|ward|station|site|tract"
    r"|reparto|servicio|location|latitude|longitude)( .*)?"
)
_DAY = (
    r"dates?|datum|datetime|day|weekday|wochentag|jour|fechas?|giorno|timestamp|year|jahr|annee|ano|anio|anno"
    r"|month|monat|mois|mese|week|woche|semaine|semana|settimana|dob|fec|ddn|fnac"
    r"|time|zeit|uhrzeit|heure"
)
_DATE = (
    rf"(.* )?({_DAY}|dat|tag|dia|data|hora|ora|mes)( .*)?"
    r"|geburts(tag|jahr)|date?(naiss|naissance|entree|sortie)"
    r"|data(nascita|ricovero|dimissione|ordine|fattura|visita)|fecha(nacimiento|ingreso|alta|pedido)"
    r"|[a-z]+(datum|dat)|(admit|discharge|birth|order|query|visit|invoice)(date|time|year)"
)
_DATE_OF = r"(date|datum|dat|data|fecha|fec) .*"
_SIZE = (
    r"amounts?|prices?|[a-z]*preise?|prix|precio|prezzo|costs?|[a-z]*kosten|couts?|costes?|costo|total|sum"
    r"|[a-z]*summe|somme|importo|importe|[a-z]*betrag|montant|quantity|quantities|qty|[a-z]*menge|anzahl"
    r"|quantite|cantidad|quantita|counts?|age|alter|alters(gruppe|klasse)|edad|eta|altezza|totale|estatura"
    r"|statura|weight|gewicht|poids|peso|bmi|imc|height|salary|gehalt|salaire|salario|income|einkommen"
    r"|revenus?|ingresos|reddito|duration|dauer|duree|duracion|durata"
)
_AMOUNT = rf"(.* )?({_SIZE}|taille|talla|score|los|rating|dose|dosis|lab|value|wert)( .*)?"
_SEXES = r"sex|gender|geschl(echt)?|sexe|sexo|genero|sesso|genere"
_SEX = rf"(.* )?({_SEXES}|genre)( .*)?"
_STREET = r"address(es)?|street|adresse|anschrift|strasse|str|rue|calle|direccion|domicilio|indirizzo|via"
_ADDRESS = rf"(.* )?({_STREET})( .*)?"
_NO_ITEM = rf"(.* )?({_HOME}|{_DAY}|{_SIZE}|{_SEXES}|{_STREET})( .*)?"
_STAFF = (
    r"(.* )?(stores?|shops?|branch|filiale|magasin|tienda|negozio|seller|vendor|supplier|provider|npi"
    r"|doctor|physician"
    r"|arzt|medecin|medico|nurse|cashier|kasse|caja|cassa|clerk|operator|device|machine|terminal|team"
    r"|class|school"
    r"|household|haushalt|foyer|hogar|famiglia|family|aisle|brand|marke|campaign|channel|status|type|typ"
    r"|group"
    r"|cluster|segment|version|language|sprache|currency|waehrung)( .*)?"
)
_ID = (
    r"^id|id$|id[_\W]|[_\W]id"
    r"|^(patient|person|subject|member|customer|client|user|visitor|session|visit|encounter|order|basket"
    r"|invoice|receipt"
    r"|transaction|record|household|case|row)(_?(no|nr|num|number|key))?$"
)
_ITEM = (
    "item|product|article|artikel|articul|articol|produkt|produit|prodott|goods|sku|code|concept|diagnos"
    "|procedure|drug|medication|medikament|medicament|farmac|icd|page|url|link|click|event|category"
)
_NAME_OF_ITEM = (
    r"(item|product|article|artikel|produkt|waren?|medikamenten?|concept|procedure|drug|medication|page"
    r"|category)[\W_]*names?$"
)
_WARES = r"(.* )?(waren?|waren(gruppe|nummer|nr|bezeichnung|code)|art ?(nr|nummer))( .*)?"
_DOUBTFUL_ITEMS = (  # never where a name decides by itself
    r"(.* )?(dx|atc|ops|pzn|aic|cim|cie|ccam|cpt|principio attivo|prestazion[ei]|prestations?|procedur[ae]"
    r"|procedimientos?|prozedur(en)?|intervent[oi]|eingriff|leistung|leistungen|actes?"
    r"|quer(y|ies)|search(es)?|suchbegriffe?|terms?|titles?|songs?|tracks?|movies?|films?)( .*)?"
)
_PERSON = (
    "patient|person|subject|member|customer|client|user|visitor|session|name|mail|phone|mrn|case|order"
    r"|basket"
)


@lru_cache(4096)
def plain(name: str) -> str:
    """Write a name as small words with blanks between them, without accents."""
    name = re.sub(r"(?<=[a-zäöüéèß])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    name = name.casefold().translate({0xE4: "ae", 0xF6: "oe", 0xFC: "ue", 0xB0: "o"})
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_0-9]+", bare))


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, plain(name)) is not None


def is_person_id(name: str) -> bool:
    """Return whether a column is unmistakably named like person IDs."""
    return _fits(_PERSON_ID, name)


def is_people(name: str) -> bool:
    """Return whether a column is named like persons, or like person IDs."""
    numbered = rf"{_PEOPLE} ?{_NUMBER}|{_NUMBER} ?{_OF}{_PEOPLE}|{_FIRST}{_PEOPLE}"
    return _fits(_PEOPLE, name) or _fits(numbered, name)


def tells_person(name: str) -> bool:
    """Return whether a column says whom a line is about: a person, or what belongs to one, but no bare id."""
    if _fits(_NUMBER, name) or _fits(r"uuid|guid", name):
        return False
    return is_people(name) or is_person_id(name)


def is_event(name: str) -> bool:
    """Return whether a column is named like events, such as orders and stays, or like their ids."""
    return not is_people(name) and _fits(_EVENT_ID, name) and not _fits(_DATE_OF, name)


def numbers_events(name: str) -> bool:
    """Return whether a column is named like the ids of events, in any of the languages."""
    return is_event(name) and _fits(_NUMBERED_EVENT, name)


def is_measured_name(name: str) -> bool:
    """Return whether a column is named like a date, an amount or a sex, which are never ids."""
    if is_person_id(name) or is_event(name):
        return False
    return any(_fits(pattern, name) for pattern in (_DATE, _AMOUNT, _SEX))


def is_date_name(name: str) -> bool:
    """Return whether a column is named like dates."""
    return not is_person_id(name) and _fits(_DATE, name)


def may_be_id(name: str) -> bool:
    """Return whether a column is named like ids of whatever, or like what belongs to one person."""
    return is_person_id(name) or _fits(_MAY_BE_ID, name)


def has_id_name(name: str) -> bool:
    """Return whether a column is named like ids, and not like items whose names may be numbers."""
    return may_be_id(name) and not (is_item_name(name) and not _fits(_COUNTED, name))


def is_place(name: str) -> bool:
    """Return whether a column is named like places."""
    return _fits(_PLACE, name)


def is_address_name(name: str) -> bool:
    """Return whether a column is named like streets with house numbers."""
    return _fits(_ADDRESS, name)


def names_others(name: str) -> bool:
    """Return whether a column is named like what many persons share: places, staff, groups, items, events."""
    shared = is_place(name) or _fits(_STAFF, name) or may_be_item(name)
    return shared or is_event(name) or is_measured_name(name)


def is_id_name(name: str) -> bool:
    """Return whether a column is named like an id."""
    known = re.search(_ID, name, re.IGNORECASE) is not None or (
        is_person_id(name) and not _fits(_PAPERS, name)
    )
    return known and not is_measured_name(name)


def is_person_name(name: str) -> bool:
    """Return whether a column is named like a person, or like what belongs to one."""
    name = re.sub(_NAME_OF_ITEM, r"\1", name, flags=re.IGNORECASE)
    return re.search(_PERSON, name, re.IGNORECASE) is not None or is_people(name) or is_person_id(name)


def is_no_item(name: str) -> bool:
    """Return whether a column is named like addresses, dates, amounts, ages or sexes, which are no items."""
    return _fits(_NO_ITEM, name)


def is_sex(name: str) -> bool:
    """Return whether a column is named like sexes alone, unlike marks of what has to do with them."""
    return _fits(rf"({_PEOPLE} )?({_SEXES})( (code|m|f|w|male|female))?", name)


def is_item_name(name: str) -> bool:
    """Return whether a column is named like an item, such as a product name, and not like a person."""
    named = (
        re.search(_ITEM, name, re.IGNORECASE)
        or re.search(_ITEM, plain(name), re.IGNORECASE)
        or _fits(_WARES, name)
    )
    return bool(named) and not is_person_name(name) and not is_no_item(name)


def may_be_item(name: str) -> bool:
    """Return whether a column is named like an item, perhaps with a word that has other meanings, too."""
    doubtful = _fits(_DOUBTFUL_ITEMS, name) and not is_person_name(name) and not is_no_item(name)
    return is_item_name(name) or doubtful


def names_columns(line: Sequence[str]) -> bool:
    """Return whether most fields of a line are names of persons, dates, amounts, places, events or items."""
    known = (is_person_name, is_measured_name, is_place, is_event, may_be_item)
    found = [field for field in line if any(one(field) for one in known)]
    return len(line) > 1 and 2 * len(found) > len(line) and any(not may_be_item(field) for field in found)


def person_noun(name: str) -> str:
    """Name what a column of persons holds: ``user``; ``person`` if its name does not say it."""
    return _noun(_PERSONS, name, "person")


def event_noun(name: str) -> str:
    """Name what a column of events holds: ``order``; ``row`` if its name does not say it."""
    return _noun(_EVENTS, name, "row")


def _noun(nouns: Mapping[str, str], name: str, otherwise: str) -> str:
    for noun, words in nouns.items():
        if _fits(rf"(.* )?({words})( ?{_NUMBER})?|({_NUMBER} ?{_OF}|{_FIRST})({words})", name):
            return noun
    return otherwise
