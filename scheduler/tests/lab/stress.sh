#!/bin/sh
# No task waits for five seconds while stress-ng switches, forks, pins and renices; nor where some
# are wide, so that levels are kept apart and CPUs are forced idle.
. loader.sh

stress() {
    stress-ng --switch 4 --yield 4 --pthread 2 --futex 2 --sem 2 --pipe 2 --fork 2 \
        --schedpolicy 2 --nice 2 --affinity 2 --timeout 20 --quiet
}

load --stats 10s
stress
unload
load --stats 10s --mode even --cpu xeon-gold-6130 --sensors rules \
    --rule 'stress-ng-switc*=avx512-heavy' --rule 'stress-ng-pipe=avx2-heavy' \
    --rule 'stress-ng-affin*=avx512-heavy' --rule 'stress-ng*=scalar'
stress
unload
