/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which messages tasks of this machine send each other over pipes and sockets.
 *
 * A wake-up shows a message only if its reader slept. `value` of a record tells channels apart
 * while the recording runs, and is renumbered by the reader: the address of a pipe, of the socket
 * that receives, or the ports of a connection. A message counts from the begin of the call that
 * writes, since the reader may be woken before that returns; bytes not written are taken back.
 */

struct file {
	void *private_data;
} RELOCATED;

struct kiocb {
	struct file *ki_filp;
} RELOCATED;

struct iov_iter {
	unsigned long count;
} RELOCATED;

struct sock_common {
	__u16 skc_family;
	__be16 skc_dport;
	__u16 skc_num;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct unix_sock {
	struct sock *peer;
} RELOCATED;

struct socket {
	struct sock *sk;
} RELOCATED;

/* include/linux/socket.h */
#define MSG_PEEK 2

static __always_inline int message(__u8 kind, __u64 channel, __s64 bytes)
{
	struct short_record *record;

	if (bytes <= 0 || !channel)
		return 0;
	record = reserve(sizeof(*record), kind);
	if (!record)
		return 0;
	record->tid = bpf_get_current_pid_tgid();
	record->value = channel;
	record->other = bytes > 0x7fffffff ? 0x7fffffff : bytes;
	return submit(record);
}

#define BY_PORTS (1ull << 32)

static __always_inline __u64 ports(struct sock *sk, int sends)
{
	__u64 own = sk->__sk_common.skc_num;
	__u64 other = __builtin_bswap16(sk->__sk_common.skc_dport);

	return BY_PORTS | (sends ? own << 16 | other : other << 16 | own);
}

SEC("fentry/pipe_write")
int on_pipe_write(__u64 *ctx)
{
	struct kiocb *iocb = (void *)ctx[0];
	struct iov_iter *from = (void *)ctx[1];

	return message(KIND_SEND, (__u64)iocb->ki_filp->private_data, from->count);
}

SEC("fexit/pipe_write")
int on_pipe_written(__u64 *ctx)
{
	struct kiocb *iocb = (void *)ctx[0];
	struct iov_iter *from = (void *)ctx[1];

	return message(KIND_UNSENT, (__u64)iocb->ki_filp->private_data, from->count);
}

SEC("fexit/pipe_read")
int on_pipe_read(__u64 *ctx)
{
	struct kiocb *iocb = (void *)ctx[0];

	return message(KIND_RECEIVE, (__u64)iocb->ki_filp->private_data, (__s64)ctx[2]);
}

static __always_inline __u64 peer_of(struct socket *socket)
{
	struct unix_sock *sk = (void *)socket->sk;

	return (__u64)BPF_CORE_READ(sk, peer);
}

SEC("fentry/unix_stream_sendmsg")
int on_unix_send(__u64 *ctx)
{
	return message(KIND_SEND, peer_of((void *)ctx[0]), ctx[2]);
}

SEC("fexit/unix_stream_sendmsg")
int on_unix_sent(__u64 *ctx)
{
	__s64 sent = (int)ctx[3];

	return message(KIND_UNSENT, peer_of((void *)ctx[0]), (__s64)ctx[2] - (sent > 0 ? sent : 0));
}

SEC("fexit/unix_stream_recvmsg")
int on_unix_received(__u64 *ctx)
{
	struct socket *socket = (void *)ctx[0];

	if (ctx[3] & MSG_PEEK)
		return 0;
	return message(KIND_RECEIVE, (__u64)socket->sk, (int)ctx[4]);
}

SEC("fentry/tcp_sendmsg")
int on_tcp_send(__u64 *ctx)
{
	return message(KIND_SEND, ports((void *)ctx[0], 1), ctx[2]);
}

SEC("fexit/tcp_sendmsg")
int on_tcp_sent(__u64 *ctx)
{
	__s64 sent = (int)ctx[3];

	return message(KIND_UNSENT, ports((void *)ctx[0], 1),
		       (__s64)ctx[2] - (sent > 0 ? sent : 0));
}

SEC("fexit/tcp_recvmsg")
int on_tcp_received(__u64 *ctx)
{
	if (ctx[3] & MSG_PEEK)
		return 0;
	return message(KIND_RECEIVE, ports((void *)ctx[0], 0), (int)ctx[5]);
}
