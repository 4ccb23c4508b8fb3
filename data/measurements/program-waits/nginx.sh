#!/bin/sh
# Records how workers of nginx wait, as root:
#
#     sh nginx.sh EVENKEEL FOLDER [WORKERS...]
#
# Needs nginx, libnginx-mod-http-brotli-filter, wrk and openssl of Debian 12. A static page of 64
# KiB of HTML, compressed by brotli (level 6, the default of the filter) at each request, over TLS
# with ChaCha20-Poly1305 alone; wrk keeps 64 connections busy for 5 s, as D 3.3.5 has it.
set -eu

evenkeel=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- 1 2 8
mkdir -p "$folder/www"
python3 - "$folder/www/page.html" <<'PY'
import random, sys
draw = random.Random(1)
words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(3000)]
text = "<html><body>"
while len(text) < 64 * 1024:
    line = " ".join(draw.choices(words, k=20))
    text += f"<p class=\"{draw.choice(words)}\">{line}</p>\n"
open(sys.argv[1], "w").write(text)
PY
[ -e "$folder/key.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=localhost \
    -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
for workers in "$@"; do
    cat >"$folder/nginx.conf" <<CONF
load_module modules/ngx_http_brotli_filter_module.so;
worker_processes $workers;
user root;
daemon off;
pid $folder/nginx.pid;
error_log $folder/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    brotli on;
    server {
        listen 127.0.0.1:8443 ssl reuseport;
        ssl_certificate $folder/cert.pem;
        ssl_certificate_key $folder/key.pem;
        ssl_protocols TLSv1.3 TLSv1.2;
        ssl_conf_command Ciphersuites TLS_CHACHA20_POLY1305_SHA256;
        root $folder/www;
    }
}
CONF
    nginx -c "$folder/nginx.conf" &
    server=$!
    trap 'kill $server' EXIT
    sleep 1
    "$evenkeel" trace record -o "$folder/nginx-$workers.ektrace" -- \
        wrk -t 2 -c 64 -d 5 -H 'Accept-Encoding: br' https://127.0.0.1:8443/page.html \
        >"$folder/nginx-$workers.log" 2>&1
    trap - EXIT
    kill "$server"
    wait "$server" || true
done
