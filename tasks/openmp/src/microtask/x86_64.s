# System V ABI, AMD64 supplement: six integer arguments in registers, the rest on the stack from the
# return address upwards; the stack pointer is a multiple of 16 at a call.

# void NAME(ident *where, int argc, microtask, ...) calls TARGET(where, argc, microtask, argv).
# The array is on our stack: three arguments from registers, the others copied.
.macro collect name, target
    .text
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movslq %esi, %rax
    leaq 39(, %rax, 8), %r10
    andq $-16, %r10
    subq %r10, %rsp
    movq %rcx, (%rsp)
    movq %r8, 8(%rsp)
    movq %r9, 16(%rsp)
    movl $3, %r10d
1:
    cmpq %rax, %r10
    jge 2f
    movq -8(%rbp, %r10, 8), %r11
    movq %r11, (%rsp, %r10, 8)
    incq %r10
    jmp 1b
2:
    movq %rsp, %rcx
    call \target
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

# void NAME(long first, ...) calls TARGET(registers, stack), where the arguments are in order.
.macro spread name, target
    .text
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $48, %rsp
    movq %rdi, (%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rsp, %rdi
    leaq 16(%rbp), %rsi
    call \target
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    spread GOMP_doacross_wait, evenkeel_omp_doacross_wait
    spread GOMP_doacross_ull_wait, evenkeel_omp_doacross_wait

    collect __kmpc_fork_call, evenkeel_omp_fork_call
    collect __kmpc_fork_teams, evenkeel_omp_fork_teams

# void evenkeel_omp_invoke(microtask, global, bound, argc, argv, exit)
    .text
    .p2align 4
    .globl evenkeel_omp_invoke
    .type evenkeel_omp_invoke, @function
evenkeel_omp_invoke:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq %rbp, (%r9)
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %r10
    movq %r8, %r11
    # Four arguments go into registers; the stack is kept even for the rest.
    cmpq $4, %r10
    jle 2f
    leaq -3(%r10), %rcx
    andq $-2, %rcx
    shlq $3, %rcx
    subq %rcx, %rsp
    movl $4, %ecx
1:
    movq (%r11, %rcx, 8), %rdx
    movq %rdx, -32(%rsp, %rcx, 8)
    incq %rcx
    cmpq %r10, %rcx
    jl 1b
2:
    testq %r10, %r10
    jz 3f
    movq (%r11), %rdx
    cmpq $2, %r10
    jl 3f
    movq 8(%r11), %rcx
    je 3f
    movq 16(%r11), %r8
    cmpq $4, %r10
    jl 3f
    movq 24(%r11), %r9
3:
    movq %rax, %r10
    # No vector registers, should the microtask be variadic.
    xorl %eax, %eax
    call *%r10
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size evenkeel_omp_invoke, . - evenkeel_omp_invoke
