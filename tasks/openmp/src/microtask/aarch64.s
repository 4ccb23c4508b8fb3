// Procedure Call Standard for the Arm 64-bit Architecture: eight integer arguments in registers,
// the rest on the stack from the stack pointer upwards, which is a multiple of 16. On Linux a
// variadic function takes its arguments as any other.

// void NAME(ident *where, int argc, microtask, ...) calls TARGET(where, argc, microtask, argv).
// The array is on our stack: five arguments from registers, the others copied.
.macro collect name, target
    .text
    .p2align 2
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    sxtw x9, w1
    add x10, x9, #6
    and x10, x10, #~1
    sub sp, sp, x10, lsl #3
    stp x3, x4, [sp]
    stp x5, x6, [sp, #16]
    str x7, [sp, #32]
    mov x10, #5
    add x11, x29, #16
1:
    cmp x10, x9
    b.ge 2f
    ldr x12, [x11], #8
    str x12, [sp, x10, lsl #3]
    add x10, x10, #1
    b 1b
2:
    mov x3, sp
    bl \target
    mov sp, x29
    ldp x29, x30, [sp], #16
    .cfi_def_cfa sp, 0
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

// void NAME(long first, ...) calls TARGET(registers, stack), where the arguments are in order.
.macro spread name, target
    .text
    .p2align 2
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    stp x29, x30, [sp, #-80]!
    .cfi_def_cfa_offset 80
    .cfi_offset x29, -80
    .cfi_offset x30, -72
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    add x0, sp, #16
    add x1, sp, #80
    bl \target
    ldp x29, x30, [sp], #80
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    spread GOMP_doacross_wait, evenkeel_omp_doacross_wait
    spread GOMP_doacross_ull_wait, evenkeel_omp_doacross_wait

    collect __kmpc_fork_call, evenkeel_omp_fork_call
    collect __kmpc_fork_teams, evenkeel_omp_fork_teams

// void evenkeel_omp_invoke(microtask, global, bound, argc, argv, exit)
    .text
    .p2align 2
    .globl evenkeel_omp_invoke
    .type evenkeel_omp_invoke, %function
evenkeel_omp_invoke:
    .cfi_startproc
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    str x29, [x5]
    mov x9, x0
    mov x0, x1
    mov x1, x2
    mov x10, x3
    mov x11, x4
    // Six arguments go into registers; the stack has room for at least six, since argv may end early.
    cmp x10, #6
    mov x12, #6
    csel x12, x10, x12, gt
    add x12, x12, #1
    and x12, x12, #~1
    sub sp, sp, x12, lsl #3
    mov x12, #0
1:
    cmp x12, x10
    b.ge 2f
    ldr x13, [x11, x12, lsl #3]
    str x13, [sp, x12, lsl #3]
    add x12, x12, #1
    b 1b
2:
    ldp x2, x3, [sp], #16
    ldp x4, x5, [sp], #16
    ldp x6, x7, [sp], #16
    blr x9
    mov sp, x29
    ldp x29, x30, [sp], #16
    .cfi_def_cfa sp, 0
    ret
    .cfi_endproc
    .size evenkeel_omp_invoke, . - evenkeel_omp_invoke
