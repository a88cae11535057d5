# The command line in a container. Wheels are taken from dist/ (docs/releasing.md), nothing else of the checkout.
#
#     docker build -t setveil .
#     docker run --rm --network none -v "$PWD:/data" setveil anonymize baskets.csv --k 5 --m 2 --out release
FROM python:3.13-slim
RUN useradd --create-home --uid 1000 setveil
COPY dist/*.whl /tmp/dist/
RUN pip install --no-cache-dir --find-links /tmp/dist setveil==0.1.0 && rm -r /tmp/dist
USER setveil
# What no wheel brought along compiled; another processor compiles it anew.
RUN setveil warm --all
WORKDIR /data
ENTRYPOINT ["setveil"]
