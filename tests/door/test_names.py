"""Columns are understood by their names, however five languages and their abbreviations write them."""

from __future__ import annotations

import pytest

from setveil.rows.data.names import (
    is_date_name,
    is_event,
    is_item_name,
    is_measured_name,
    is_no_item,
    is_place,
    may_be_item,
    tells_person,
)

PEOPLE = """
    n_socio num_socio cod_cliente codcliente CodCli codice_cliente cod_paziente N.Paziente tesserato n_tessera
    assistito id_assistito cod_assistito degente iscritto contribuente dipendente matricola codice_fiscale
    cod_fiscale tessera_sanitaria utente cod_utente abbonato beneficiario
    Kunden-Nr. KdNr Kd.-Nr. Pat.-ID Pat.Nr. PatientenNr Versicherten-Nr. Vers.-Nr. KV-Nr. SV-Nummer MitglNr
    Matr.-Nr. Matrikelnr Steuer-ID Pers.-Nr. Bürger Käufer Leistungsempfänger
    n°_client no_patient NumClient code_client codeclient assuré bénéficiaire num_secu malade titulaire IPP
    nº_paciente n.º_paciente cod_paciente num_historia afiliado tarjeta_sanitaria DNI abonado ciudadano
    titular cust_no pt_id subjid USUBJID enrolid BENE_ID citizen_id
"""
EVENTS = """
    ricovero n_ricovero id_ricovero scontrino n_scontrino ordine cod_ordine fattura n_fattura visita accesso
    ricetta prenotazione sdo degenza
    Fall-Nr. FallNr Aufnahme-Nr. Bestell-Nr. Auftrags-Nr. AuftrNr RechNr Beleg-Nr. Bon-Nr. Rezeptnr Vorgangsnr
    Quittung Lieferscheinnr
    n°_facture no_commande num_sejour NDA ticket_caisse num_passage ordonnance rdv
    nº_pedido num_factura ticket_compra episodio id_ingreso cita num_atencion receta albaran
"""
MEASURED = """
    data_ricovero data_nascita datanascita data_di_nascita data_ordine eta sesso importo prezzo peso altezza
    totale anno Geb.-Datum GebDatum Geburtstag Geburtsjahr Aufn.-Datum Geschl. Datum_Fall Alter Menge
    date_naissance DateNaissance ddn date_commande date_entree sexe montant taille
    fecha_nacimiento fec_nac fecha_ingreso fecha_pedido género importe talla anio
"""
PLACES = "CAP cap_residenza comune provincia città reparto PLZ Wohnort code_postal CP cod_postal C.P. ciudad"
ITEMS = """
    cod_prodotto articolo diagnosi codice_diagnosi icd9cm farmaco principio_attivo prestazione procedura
    intervento Hauptdiagnose PZN code_produit CIM10 acte CCAM codigo_producto CIE10 procedimiento
"""
SHOPS_AND_WARDS = """
    Artikel Artikelnr Artikel-Nr. ArtNr Artikelbezeichnung Artikelname Ware Waren Warengruppe Produktname
    article produit nom_produit code_article artículo cod_articulo nombre_producto articolo cod_articolo
    prodotto nome_prodotto Medikament médicament medicamento fármaco diagnóstico product_name icd10 item
"""
NO_ITEMS = """
    zip ZIP zip_code zipcode plz postcode postal_code code_postal código_postal codice_postale CP CAP
    sex Geschlecht sexe sexo sesso gender género age Alter Altersgruppe âge edad età age_group
    date Datum fecha order_date product_date date_achat weekday city Stadt ville ciudad città Ort Land país
    street Straße rue calle via address Anschrift dirección price Preis Artikelpreis prix_article precio
    prezzo item_price amount Betrag montant importe quantity Menge Liefermenge total
"""


@pytest.mark.parametrize("name", PEOPLE.split())
def test_names_of_people(name: str) -> None:
    assert tells_person(name)
    assert not is_event(name)
    assert not is_measured_name(name)


@pytest.mark.parametrize("name", EVENTS.split())
def test_names_of_events(name: str) -> None:
    assert is_event(name)
    assert not tells_person(name)


@pytest.mark.parametrize("name", MEASURED.split())
def test_names_of_what_is_measured(name: str) -> None:
    assert is_measured_name(name)
    assert not tells_person(name)
    assert not is_event(name)


@pytest.mark.parametrize("name", PLACES.split())
def test_names_of_places(name: str) -> None:
    assert is_place(name)
    assert not tells_person(name)


@pytest.mark.parametrize("name", ITEMS.split())
def test_names_of_items(name: str) -> None:
    assert may_be_item(name)
    assert not tells_person(name)
    assert not is_event(name)


@pytest.mark.parametrize("name", SHOPS_AND_WARDS.split())
def test_names_of_items_that_decide(name: str) -> None:
    assert is_item_name(name)
    assert not is_no_item(name)


@pytest.mark.parametrize("name", NO_ITEMS.split())
def test_names_that_are_never_of_items(name: str) -> None:
    assert is_no_item(name)
    assert not may_be_item(name)


@pytest.mark.parametrize("name", ["Warenkorb", "genre", "tags", "software", "update", "Sport", "sku_data"])
def test_names_that_leave_it_to_the_values(name: str) -> None:
    assert not is_no_item(name)
    assert is_item_name(name) == (name == "sku_data")


@pytest.mark.parametrize(
    "name", ["n_patients", "n_clients", "n_pazienti", "code", "database", "country code", "status code", "n"]
)
def test_counts_and_codes_of_other_things_are_no_people(name: str) -> None:
    assert not tells_person(name)
    assert not is_date_name(name)
