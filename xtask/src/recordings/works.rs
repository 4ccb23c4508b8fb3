//! The recorded works: shell programs, each with its own mix of computing, waiting and waking.
//!
//! A machine that is slower than its clock sets `FILES` and `BYTES` to smaller amounts.

/// Work to record: a shell program that runs in a folder of its own.
pub struct Work {
    pub name: &'static str,
    /// Before the recording.
    pub prepare: &'static str,
    /// During the recording.
    pub run: &'static str,
}

/// For mending the models.
pub const SEEN: [Work; 5] = [
    // Nothing but hogs, of three nice levels.
    Work {
        name: "hogs",
        prepare: "",
        run: "for nice in 0 0 0 5 10; do \
              nice -n $nice timeout 12 openssl speed -seconds 12 sha256 & done; wait",
    },
    // Two that wake each other all the time, beside a hog.
    Work {
        name: "pipe",
        prepare: "",
        run: "timeout 5 openssl speed -seconds 5 sha256 & timeout 5 perf bench sched pipe; wait",
    },
    // Many short processes.
    Work {
        name: "make",
        prepare: "for n in $(seq ${FILES:-60}); do { echo '#include <stdio.h>'; \
                  for f in $(seq 60); do echo \"int f${n}_$f(int a, int b) { int s = $f; \
                  for (int i = 0; i < a; i++) { s += i * b; if (s % 7 == $n) \
                  printf(\\\"%d\\\", s); } return s; }\"; done; } > f$n.c; done; \
                  { echo 'all: $(patsubst %.c,%.o,$(wildcard *.c))'; echo '%.o: %.c'; \
                  printf '\\tgcc -O2 -c $< -o $@\\n'; } > Makefile",
        run: "make -j4",
    },
    // A pipeline beside two hogs.
    Work {
        name: "pipeline",
        prepare: "head -c ${BYTES:-24000000} /dev/zero > zeros",
        run: "for i in 1 2; do timeout 10 openssl speed -seconds 10 aes-256-cbc & done; \
              openssl enc -aes-256-ctr -pass pass:x -pbkdf2 -in zeros | xz -2 -T1 | wc -c; wait",
    },
    // Timers and loads below one.
    Work {
        name: "timers",
        prepare: "",
        run: "stress-ng --cpu 3 --cpu-load 45 --cpu-load-slice 5 --timerfd 1 --timerfd-freq 500 \
              --timeout 12s",
    },
];

/// To be opened once.
pub const UNSEEN: [Work; 4] = [
    Work {
        name: "x265",
        prepare: "openssl enc -aes-256-ctr -pass pass:y -pbkdf2 -in /dev/zero 2>/dev/null | \
                  head -c 60000000 > noise; ln -s noise noise.yuv",
        run: "timeout 14 x265 --input noise.yuv --input-res 480x272 --fps 30 -o out.hevc & \
              timeout 14 xz -6 -T1 -k -c noise > /dev/null; wait",
    },
    Work {
        name: "nginx",
        prepare: "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
                  -subj /CN=localhost -days 2; mkdir -p html; head -c 50000 /dev/urandom > \
                  html/index.html; echo \"daemon off; worker_processes 2; pid $PWD/pid; \
                  error_log $PWD/error.log; events {} http { access_log off; server { \
                  listen 127.0.0.1:18443 ssl; ssl_certificate $PWD/cert.pem; \
                  ssl_certificate_key $PWD/key.pem; root $PWD/html; } }\" > nginx.conf; \
                  chmod -R a+rX .",
        run: "nginx -c $PWD/nginx.conf & sleep 1; \
              for i in 1 2; do openssl s_time -connect 127.0.0.1:18443 -www /index.html -new \
              -time 11 & done; timeout 11 7z b -mmt1 -md20 100; kill $(cat pid); wait",
    },
    Work {
        name: "compile",
        prepare: "cargo new --quiet --lib job; cd job; \
                  { for n in $(seq 300); do echo \"pub fn f$n(a: &[u64]) -> Vec<String> { \
                  a.iter().map(|x| x.wrapping_mul($n)).filter(|x| x % 5 != 1)\
                  .map(|x| format!(\\\"{x:x}\\\")).collect() }\"; done; } > src/lib.rs; \
                  for n in 1 2 3; do cp -r . ../job$n; \
                  sed -i \"s/name = .*/name = \\\"job$n\\\"/\" ../job$n/Cargo.toml; done",
        run: "for n in 1 2 3; do (cd job$n && cargo build --quiet --release --offline) & done; \
              wait",
    },
    Work {
        name: "messages",
        prepare: "",
        run: "perf bench sched messaging -g 3 -l 300 & \
              nice -n 5 timeout 6 openssl speed -seconds 6 \
              sha256;               wait",
    },
];

/// Programs that wake each other often, for mending the models.
pub const SEEN_WAKING: [Work; 6] = [
    // Wake-ups by softirqs in the sender's context.
    Work {
        name: "web",
        prepare: "mkdir -p html; head -c 2000 /dev/urandom > html/index.html; \
                  echo \"daemon off; worker_processes 2; pid $PWD/pid; error_log $PWD/error.log; \
                  events {} http { access_log off; server { listen 127.0.0.1:18080; \
                  root $PWD/html; } }\" > nginx.conf; chmod -R a+rX .",
        run: "nginx -c $PWD/nginx.conf & sleep 1; \
              timeout 9 openssl speed -seconds 9 sha256 & \
              wrk -t 2 -c 16 -d 9 http://127.0.0.1:18080/index.html; kill $(cat pid); wait",
    },
    // Many to many, threads of one process.
    Work {
        name: "threads",
        prepare: "",
        run: "perf bench sched messaging -t -g 2 -l 3000 & \
              timeout 6 openssl speed -seconds 6 sha256; wait",
    },
    // One server, many clients, few of them waiting at a time.
    Work {
        name: "store",
        prepare: "",
        run: "redis-server --port 17379 --save '' --dir . & sleep 1; \
              timeout 8 openssl speed -seconds 8 sha256 & \
              timeout 8 redis-benchmark -p 17379 -c 20 -n 100000000 -t set; \
              redis-cli -p 17379 shutdown nosave; wait",
    },
    // Programs that begin and end.
    Work {
        name: "forks",
        prepare: "",
        run: "timeout 8 openssl speed -seconds 8 sha256 & \
              timeout 8 sh -c 'while :; do echo 12345 | sed s/1/2/ | wc -c; done'; wait",
    },
    // Short sleeps.
    Work {
        name: "sleepers",
        prepare: "",
        run: "stress-ng --nanosleep 2 --itimer 1 --itimer-freq 500 --cpu 2 --cpu-load 60 \
              --timeout 8s",
    },
    // Threads that wait for each other's lines, beside a compressor.
    Work {
        name: "encode",
        prepare: "openssl enc -aes-256-ctr -pass pass:y -pbkdf2 -in /dev/zero 2>/dev/null | \
                  head -c 30000000 > noise; ln -s noise noise.yuv",
        run: "timeout 9 x265 --input noise.yuv --input-res 480x272 --fps 30 -o out.hevc & \
              timeout 9 7z b -mmt1 -md20 100; wait",
    },
];

/// Programs that wake each other often, to be opened once.
pub const UNSEEN_WAKING: [Work; 6] = [
    Work {
        name: "tls",
        prepare: "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
                  -subj /CN=localhost -days 2; mkdir -p html; head -c 20000 /dev/urandom > \
                  html/index.html; echo \"daemon off; worker_processes 2; pid $PWD/pid; \
                  error_log $PWD/error.log; events {} http { access_log off; server { \
                  listen 127.0.0.1:18444 ssl; ssl_certificate $PWD/cert.pem; \
                  ssl_certificate_key $PWD/key.pem; root $PWD/html; } }\" > nginx.conf; \
                  chmod -R a+rX .",
        run: "nginx -c $PWD/nginx.conf & sleep 1; timeout 9 7z b -mmt1 -md20 100 & \
              wrk -t 1 -c 10 -d 9 https://127.0.0.1:18444/index.html; kill $(cat pid); wait",
    },
    Work {
        name: "processes",
        prepare: "",
        run: "perf bench sched messaging -p -g 2 -l 2000 & \
              nice -n 5 timeout 6 openssl speed -seconds 6 sha256; wait",
    },
    Work {
        name: "queue",
        prepare: "head -c 30000000 /dev/urandom > noise",
        run: "redis-server --port 17380 --save '' --dir . & sleep 1; \
              timeout 8 xz -6 -T1 -k -c noise > /dev/null & \
              timeout 8 redis-benchmark -p 17380 -c 50 -P 4 -n 100000000 -t lpush; \
              redis-cli -p 17380 shutdown nosave; wait",
    },
    Work {
        name: "cbuild",
        prepare: "for n in $(seq ${FILES:-60}); do { echo '#include <stdlib.h>'; \
                  for f in $(seq 30); do echo \"int g${n}_$f(int a) { int s = $f; \
                  while (a-- > 0) { s ^= rand() % ($n + 1); } return s; }\"; done; } > g$n.c; \
                  done; { echo 'all: $(patsubst %.c,%.o,$(wildcard *.c))'; echo '%.o: %.c'; \
                  printf '\\tgcc -O1 -c $< -o $@\\n'; } > Makefile",
        run: "timeout 9 openssl speed -seconds 9 sha256 & \
              timeout 9 sh -c 'while :; do make -s -j3; rm -f *.o; done'; wait",
    },
    Work {
        name: "lines",
        prepare: "",
        run: "timeout 8 sh -c 'while :; do seq 20000 | tr 1 2 | sort | uniq -c | wc -l; done' & \
              timeout 8 openssl speed -seconds 8 sha256; wait",
    },
    Work {
        name: "frames",
        prepare: "openssl enc -aes-256-ctr -pass pass:z -pbkdf2 -in /dev/zero 2>/dev/null | \
                  head -c 40000000 > noise; ln -s noise noise.yuv",
        run: "timeout 9 x265 --input noise.yuv --input-res 320x176 --fps 30 --preset fast \
              -o out.hevc & timeout 9 xz -6 -T1 -k -c noise > /dev/null; wait",
    },
];
