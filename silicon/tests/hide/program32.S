/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program of 32 bits that asks for leaf 7 by HLT and writes EAX, EBX, ECX and EDX. */
	.globl	_start
_start:
	movl	$7, %eax
	xorl	%ecx, %ecx
	.byte	0xf4, 0x90
	pushl	%edx
	pushl	%ecx
	pushl	%ebx
	pushl	%eax
	/* write(1, registers, 16) */
	movl	$4, %eax
	movl	$1, %ebx
	movl	%esp, %ecx
	movl	$16, %edx
	int	$0x80
	/* exit(0) */
	movl	$1, %eax
	xorl	%ebx, %ebx
	int	$0x80
	.section .note.GNU-stack, "", @progbits
