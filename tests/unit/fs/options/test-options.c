/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "fs/options/options.h"

static struct options o;
static struct err e;

static int parse(int argc, const char *const *argv)
{
	options_finish(&o);
	memset(&e, 0, sizeof(e));
	return options_parse(&o, argc, (char *const *)argv, &e);
}

#define PARSE(...)                                                                                 \
	parse(sizeof((const char *[]){"rnfs", __VA_ARGS__}) / sizeof(char *),                      \
		(const char *[]){"rnfs", __VA_ARGS__, NULL})
#define WITH(list) PARSE("-o", list, "h:/e", "/m")

static int finish(void **state)
{
	options_finish(&o);
	return 0;
}

static void a_bare_command_line_gives_defaults(void **state)
{
	assert_int_equal(PARSE("server:/export/a", "/mnt"), 0);
	assert_string_equal(o.host, "server");
	assert_string_equal(o.export, "/export/a");
	assert_string_equal(o.mountpoint, "/mnt");
	assert_string_equal(o.fuse_opts, "");
	assert_int_equal(o.proto, PROTO_AUTO);
	assert_int_equal(o.vers_major, 0); /* the newest version */
	assert_int_equal(o.vers_minor, 0);
	assert_int_equal(o.timeo_ms, 60000);
	assert_int_equal(o.cache_size, 256 << 20);
	assert_false(o.soft || o.foreground || o.debug || o.read_only || o.allow_other);
}

static void options_may_stand_anywhere(void **state)
{
	assert_int_equal(PARSE("s:/", "-f", "/mnt", "-o", "soft", "-oro,port=1"), 0);
	assert_true(o.foreground && o.soft && o.read_only);
	assert_int_equal(o.port, 1);
	assert_string_equal(o.fuse_opts, "ro");
	assert_int_equal(PARSE("-d", "--", "s:/", "/mnt"), 0);
	assert_true(o.debug && o.foreground);
}

static void all_values_are_taken(void **state)
{
	assert_int_equal(
		WITH("proto=iwarp,port=20050,vers=4.1,rsize=128K,wsize=5000,sec=sys,hard,timeo=50,"
		     "retrans=2,connect_timeout=4,nconnect=1,cache_size=1G,credits=32,"
		     "inline_size=8K,mpa_crc,rdma_version=1,actimeo=0,workers=3,readahead=1024"),
		0);
	assert_int_equal(o.proto, PROTO_IWARP);
	assert_int_equal(o.port, 20050);
	assert_int_equal(o.vers_major, 4);
	assert_int_equal(o.vers_minor, 1);
	assert_int_equal(o.rsize, 131072);
	assert_int_equal(o.wsize, 4096); /* whole pages */
	assert_int_equal(o.timeo_ms, 5000);
	assert_int_equal(o.retrans, 2);
	assert_int_equal(o.connect_ms, 4000);
	assert_true(o.cache_size == 1ull << 30);
	assert_int_equal(o.credits, 32);
	assert_int_equal(o.inline_size, 8192);
	assert_true(o.mpa_crc);
	assert_true(o.acregmax == 0 && o.acdirmax == 0);
	assert_int_equal(o.workers, 3);
	assert_int_equal(o.readahead_kb, 1024);
}

static void versions_are_named_as_mount_nfs_does(void **state)
{
	static const struct {
		const char *list;
		unsigned major, minor;
	} good[] = {
		{"vers=3", 3, 0},
		{"nfsvers=3", 3, 0},
		{"v3", 3, 0},
		{"vers=4", 4, 0},
		{"v4", 4, 0},
		{"vers=4.1", 4, 1},
		{"v4.2", 4, 2},
		{"nfsvers=4.2", 4, 2},
		{"vers=4,minorversion=1", 4, 1},
		{"minorversion=2", 4, 2},
		{"minorversion=2,vers=4.2", 4, 2},
		{"vers=3,vers=4.1", 4, 1},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(WITH(good[i].list), 0);
		assert_int_equal(o.vers_major, good[i].major);
		assert_int_equal(o.vers_minor, good[i].minor);
	}
}

static void attributes_are_believed_as_long_as_nfs_says(void **state)
{
	assert_int_equal(PARSE("s:/", "/m"), 0);
	assert_true(o.cache_names && o.cache_absent && !o.cache_complete);
	assert_int_equal(o.acregmin, 3);
	assert_int_equal(o.acregmax, 60);
	assert_int_equal(o.acdirmin, 30);
	assert_int_equal(o.acdirmax, 60);
	/* the value that was not given yields */
	assert_int_equal(WITH("acregmin=100,acdirmax=5"), 0);
	assert_int_equal(o.acregmin, 100);
	assert_int_equal(o.acregmax, 100);
	assert_int_equal(o.acdirmin, 5);
	assert_int_equal(o.acdirmax, 5);
	assert_int_equal(WITH("actimeo=7,lookupcache=none"), 0);
	assert_int_equal(o.acregmin, 7);
	assert_int_equal(o.acdirmax, 7);
	assert_false(o.cache_names || o.cache_absent);
	assert_int_equal(WITH("lookupcache=complete"), 0);
	assert_true(o.cache_names && o.cache_absent && o.cache_complete);
	assert_int_equal(WITH("noac,lookupcache=pos"), 0);
	assert_true(o.acregmax == 0 && o.acdirmax == 0 && o.cache_names && !o.cache_absent);
	assert_false(o.gather);
	assert_int_equal(WITH("noac,ac"), 0);
	assert_true(o.acregmax == 60 && o.gather);
}

static void owners_may_be_names(void **state)
{
	assert_int_equal(PARSE("s:/", "/m"), 0);
	assert_int_equal(o.idmap, NFS_IDMAP_AUTO);
	assert_null(o.idmap_domain);
	assert_int_equal(WITH("idmap=name,idmap_domain=a.example,idmap_domain=b.example"), 0);
	assert_int_equal(o.idmap, NFS_IDMAP_NAME);
	assert_string_equal(o.idmap_domain, "b.example");
	assert_int_equal(WITH("idmap=numeric"), 0);
	assert_int_equal(o.idmap, NFS_IDMAP_NUMERIC);
}

static void the_last_one_counts(void **state)
{
	assert_int_equal(WITH("soft,hard,port=1,port=2,proto=tcp,rdma"), 0);
	assert_false(o.soft);
	assert_int_equal(o.port, 2);
	assert_int_equal(o.proto, PROTO_RDMA);
}

static void mount_options_are_passed_or_passed_over(void **state)
{
	assert_int_equal(WITH("rw,nosuid,nodev,noatime,_netdev,noauto,user,x-systemd.automount,"
			      "comment=a,user=joe,noexec"),
		0);
	assert_string_equal(o.fuse_opts, "rw,nosuid,nodev,noatime,noexec");
}

static void other_users_are_let_in(void **state)
{
	assert_int_equal(WITH("allow_other"), 0);
	assert_false(o.default_permissions);
	assert_string_equal(o.fuse_opts, "allow_other");
}

static void ipv6_addresses_stand_in_brackets(void **state)
{
	assert_int_equal(PARSE("[fe80::1%eth0]:/e", "/m"), 0);
	assert_string_equal(o.host, "fe80::1%eth0");
	assert_string_equal(o.export, "/e");
	assert_string_equal(o.source, "[fe80::1%eth0]:/e");
	assert_int_equal(PARSE("::1:/e", "/m"), -1);
	assert_non_null(strstr(e.msg, "[::1]:/e"));
	assert_int_equal(PARSE("[::1:/e", "/m"), -1);
	assert_int_equal(PARSE("[]:/e", "/m"), -1);
}

static void a_url_stands_for_options(void **state)
{
	assert_int_equal(PARSE("nfs://server:2050/a%20b?version=4.1&uid=5", "/m"), 0);
	assert_string_equal(o.source, "nfs://server:2050/a%20b?version=4.1&uid=5");
	assert_string_equal(o.host, "server");
	assert_string_equal(o.export, "/a b");
	assert_true(o.port == 2050 && o.vers_major == 4 && o.vers_minor == 1);
	assert_int_equal(o.proto, PROTO_AUTO);
	assert_string_equal(o.unused, "uid");
	/* -o overrides the URL, in either order */
	assert_int_equal(PARSE("-o", "port=1", "nfs://server:2/?version=4.2", "/m", "-o", "v3"), 0);
	assert_true(o.port == 1 && o.vers_major == 3);
	assert_int_equal(PARSE("nfs+rdma://server/", "/m"), 0);
	assert_int_equal(o.proto, PROTO_AUTO_RDMA);
	assert_int_equal(PARSE("nfs+rdma://server/", "/m", "-o", "iwarp"), 0);
	assert_int_equal(o.proto, PROTO_IWARP);
	assert_int_equal(PARSE("nfs+rdma://server/", "/m", "-o", "tcp"), -1);
	assert_non_null(strstr(e.msg, "contradict"));
	assert_int_equal(PARSE("nfs+rdma://server/?proto=tcp", "/m"), -1);
	assert_int_equal(PARSE("nfs://server/?version=4.0", "/m"), -1);
	assert_non_null(strstr(e.msg, "4.0 is too old"));
	assert_int_equal(PARSE("nfs://server/?fsname=x", "/m"), -1);
}

static void wrong_arguments_are_told(void **state)
{
	static const char *const bad[] = {"server", "server:export", ":/e", "", "server:"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(PARSE(bad[i], "/m"), -1);
		assert_int_equal(e.kind, ERR_USAGE);
	}
	assert_int_equal(PARSE("s:/e"), -1);
	assert_non_null(strstr(e.msg, "no mount point"));
	assert_int_equal(PARSE("s:/e", "/m", "/n"), -1);
	assert_non_null(strstr(e.msg, "too many"));
	assert_int_equal(PARSE("-x", "s:/e", "/m"), -1);
	assert_non_null(strstr(e.msg, "-x"));
	assert_int_equal(PARSE("--frob", "s:/e", "/m"), -1);
	assert_non_null(strstr(e.msg, "--frob"));
	assert_int_equal(PARSE("s:/e", "/m", "-o"), -1);
}

static void wrong_options_are_named(void **state)
{
	static const struct {
		const char *list, *say;
	} bad[] = {
		{"frobnicate", "frobnicate"},
		{"proto=udp", "not spoken over UDP"},
		{"proto=tcp66", "proto=tcp66"},
		{"proto=iwarp6", "proto=iwarp6"},
		{"proto", "proto needs a value"},
		{"soft=1", "soft takes no value"},
		{"port=65536", "port=65536"},
		{"port=+1", "port=+1"},
		{"port=1x", "port=1x"},
		{"rsize=M", "rsize=M"},
		{"rsize=0", "rsize=0"},
		{"vers=4.0", "4.0 is too old"},
		{"v4.0", "4.0 is too old"},
		{"vers=4,minorversion=0", "4.0 is too old"},
		{"vers=2", "2 is too old"},
		{"minorversion=3", "1 or 2"},
		{"acregmin=-1", "seconds"},
		{"lookupcache=some", "all, complete, positive or none"},
		{"idmap=both", "auto, numeric or name"},
		{"idmap_domain=a@b", "example.net"},
		{"vers=5", "vers=5"},
		{"mountport=65536", "mountport"},
		{"mountproto=rdma", "tcp, tcp6, udp or udp6"},
		{"mountvers=1", "mountvers"},
		{"sec=krb5p", "not supported yet"},
		{"sec=krb5:krb5i", "not supported yet"},
		{"sec=none", "sec=none"},
		{"sec=krb5xyz", "sec=krb5xyz is not valid"},
		{"rdirplus=some", "none or force"},
		{"sec=", "sec="},
		{"xprtsec=tls", "cannot be encrypted"},
		{"xprtsec=mtls", "cannot be encrypted"},
		{"nconnect=17", "1 to 16"},
		{"udp", "not spoken over UDP"},
		{"proto=udp6", "not spoken over UDP"},
		{"write=later", "lazy, eager or wait"},
		{"nocto=1", "nocto takes no value"},
		{"clientaddr", "clientaddr needs a value"},
		{"cache_size=1K", "cache_size=1K"},
		{"cache_size=99999999999999999999", "cache_size="},
		{"cache_size=17179869184G", "cache_size="},
		{"timeo=-5", "timeo=-5"},
		{"rdma_version=3", "auto, 1, 1-legacy, 2, 2-2016, 2-rtr or 2-2016-rtr"},
		{"local_lock=some", "local_lock=some"},
		{"local_lock", "needs a value"},
		{"soft,,bogus", "bogus"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(WITH(bad[i].list), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_non_null(strstr(e.msg, bad[i].say));
	}
}

/* mount -s */
static void unknown_options_may_be_ignored(void **state)
{
	assert_int_equal(PARSE("-s", "-o", "nosuch,soft,port2=7", "h:/e", "/m"), 0);
	assert_true(o.soft);
	assert_int_equal(PARSE("-s", "-o", "soft=1", "h:/e", "/m"), -1);
	assert_int_equal(PARSE("-o", "nosuch", "h:/e", "/m"), -1);
}

static void options_of_nfs_carry_over(void **state)
{
	assert_int_equal(WITH("ac,cto,intr,resvport,nosharecache,nofsc,acl,nosoftreval,rdirplus,"
			      "rdirplus=force,"
			      "notrunkdiscovery,nomigration,addr=1.2.3.4,softerr,xprtsec=none,"
			      "port=0,mountport=0,write=lazy,sec=sys,nconnect=1"),
		0);
	assert_null(o.unused);
	assert_null(o.notes);
	assert_true(o.soft && o.gather);
	assert_int_equal(WITH("nocto,softreval,fsc=tag,nordirplus,noresvport,clientaddr=::1,"
			      "retrans=2,rdirplus=none"),
		0);
	assert_string_equal(o.unused, "nocto, softreval, fsc, nordirplus, noresvport, clientaddr, "
				      "rdirplus=none, retrans (with hard)");
	assert_null(o.notes);
	assert_int_equal(WITH("nconnect=4"), 0);
	assert_int_equal(o.nconnect, 4);
	assert_int_equal(WITH("max_connect=16"), 0);
	assert_int_equal(o.max_connect, 16);
	assert_false(o.trunk_discovery);
	assert_int_equal(WITH("trunkdiscovery,max_connect=2"), 0);
	assert_true(o.trunk_discovery && !o.notes);
	assert_int_equal(WITH("trunkdiscovery,notrunkdiscovery"), 0);
	assert_true(!o.trunk_discovery && !o.notes);
	assert_false(o.replication);
	assert_int_equal(WITH("replication"), 0);
	assert_true(o.replication && !o.notes);
	assert_int_equal(WITH("replication,noreplication"), 0);
	assert_true(!o.replication && !o.notes);
	assert_int_equal(WITH("sec=krb5:sys"), 0);
	assert_non_null(strstr(o.notes, "sec=sys is used"));
	assert_int_equal(WITH("write=wait"), 0);
	assert_true(!o.gather && !o.notes);
	assert_int_equal(WITH("write=eager"), 0);
	assert_false(o.gather);
	assert_string_equal(o.notes, "option write=eager is taken as write=wait");
	/* a size that is too large or too small stands for the nearest valid size */
	assert_int_equal(WITH("rsize=4194304,wsize=512"), 0);
	assert_true(o.rsize == 1u << 20 && o.wsize == 4096);
}

static void a_first_mount_may_wait(void **state)
{
	assert_int_equal(PARSE("s:/", "/m"), 0);
	assert_true(!o.retry_min && !o.bg && !o.delay_connect);
	assert_int_equal(WITH("retry=3"), 0);
	assert_int_equal(o.retry_min, 3);
	assert_int_equal(WITH("bg"), 0);
	assert_true(o.bg && o.retry_min == 10000);
	assert_int_equal(WITH("bg,retry=0,fg"), 0);
	assert_true(!o.bg && o.retry_min == 0);
	assert_int_equal(WITH("delay_connect"), 0);
	assert_true(o.delay_connect && !o.notes);
	assert_int_equal(PARSE("-f", "-o", "bg", "s:/", "/m"), 0);
	assert_non_null(strstr(o.notes, "option bg has no effect with -f"));
}

static void netids_choose_the_family(void **state)
{
	assert_int_equal(WITH("proto=tcp6"), 0);
	assert_true(o.proto == PROTO_TCP && o.family == AF_INET6);
	assert_int_equal(WITH("proto=rdma6"), 0);
	assert_true(o.proto == PROTO_RDMA && o.family == AF_INET6);
	assert_int_equal(WITH("proto=tcp6,proto=tcp"), 0);
	assert_true(o.proto == PROTO_TCP && o.family == AF_UNSPEC);
}

static void unknown_options_are_told_or_passed_over(void **state)
{
	assert_int_equal(WITH("rsiz=1M"), -1);
	assert_string_equal(e.msg, "unknown option \"rsiz\": did you mean rsize?");
	assert_int_equal(WITH("udo"), -1); /* near to an option that would be refused only */
	assert_non_null(strstr(e.msg, "lists those there are"));
	assert_int_equal(WITH("frob=1,sloppy,soft,nicate"), 0);
	assert_true(o.soft);
	assert_string_equal(o.notes, "unknown options are ignored: frob,nicate");
	assert_int_equal(WITH("sloppy,rsize=x"), -1); /* a wrong value is not an unknown option */
}

static void contradictions_are_refused(void **state)
{
	static const struct {
		const char *list, *say;
	} bad[] = {
		{"acregmin=10,acregmax=5", "acregmin=10 is above acregmax=5"},
		{"acdirmin=30,acdirmax=20", "acdirmin=30 is above acdirmax=20"},
		{"actimeo=7,acregmin=8", "acregmin=8 is above acregmax=7"},
		{"noac,writeback", "noac and writeback"},
		{"writeback,noac", "noac and writeback"},
		{"vers=3,minorversion=1", "contradicts"},
		{"vers=4.1,minorversion=2", "contradicts"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(WITH(bad[i].list), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_non_null(strstr(e.msg, bad[i].say));
	}
	assert_int_equal(WITH("acregmin=8,actimeo=7"), 0); /* the last one counts */
}

static void options_without_effect_are_named(void **state)
{
	static const struct {
		const char *list, *say; /* NULL: no message */
	} some[] = {
		{"proto=tcp,rdma_version=2", "option rdma_version has no effect with proto=tcp"},
		{"tcp,credits=8", "option credits has no effect with proto=tcp"},
		{"inline_size=8K,proto=tcp", "option inline_size has no effect with proto=tcp"},
		{"proto=rdma,mpa_crc", "option mpa_crc has no effect with proto=rdma"},
		{"vers=3,delegations=read", "option delegations has no effect with vers=3"},
		{"vers=3,idmap=name", "option idmap has no effect with vers=3"},
		{"vers=4.2,mountport=2", "option mountport has no effect with vers=4.2"},
		{"vers=4,mountproto=udp", "option mountproto has no effect with vers=4"},
		{"vers=4.1,read_plus", "option read_plus has no effect with vers=4.1"},
		{"minorversion=1,read_plus", "option read_plus has no effect with vers=4.1"},
		{"v3,read_plus", "option read_plus has no effect with vers=3"},
		{"vers=3,pnfs", "option pnfs has no effect with vers=3"},
		{"noac,actimeo=3", "option actimeo has no effect with noac"},
		{"acdirmax=3,noac", "option acdirmax has no effect with noac"},
		{"noac,delegations=write", "option delegations has no effect with noac"},
		{"actimeo=0,delegations=read", "option delegations has no effect with acregmax=0"},
		{"nolock,local_lock=none", "option local_lock has no effect with nolock"},
		{"local_lock=all,lock", "option local_lock has no effect with lock"},
		{"idmap=numeric,idmap_domain=a.b", "option idmap_domain has no effect with "
						   "idmap=numeric"},
		{"readahead=0,cache_size=32M", "option cache_size has no effect with readahead=0"},
		{"delay_connect,retry=2", "option retry has no effect with delay_connect"},
		{"bg,delay_connect", "option bg has no effect with delay_connect"},
		{"soft,delay_connect", "option soft has no effect with delay_connect until"},
		{"trunkdiscovery", "option trunkdiscovery has no effect with max_connect=1"},
		{"trunkdiscovery,vers=3", "option trunkdiscovery has no effect with vers=3"},
		{"replication,vers=3", "option replication has no effect with vers=3"},
		{"vers=4.1,replication,ro", NULL},
		{"bg,retry=2,soft", NULL},
		{"rdma_version=2", NULL},
		{"iwarp,rdma_version=2,mpa_crc", NULL},
		{"mountport=2,delegations=read", NULL},
		{"vers=4,read_plus,delegations=read", NULL},
		{"vers=4.2,read_plus", NULL},
		{"vers=3,mountport=2,vers=3", NULL},
		{"noac,actimeo=0", NULL},
		{"noac,ac,actimeo=3", NULL},
		{"noac,delegations=none", NULL},
		{"nolock,local_lock=all", NULL},
		{"nolock,lock,local_lock=none", NULL},
		{"soft,retrans=2", NULL},
		{"hard,soft,hard", NULL},
	};

	for (unsigned i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		assert_int_equal(WITH(some[i].list), 0);
		if (!some[i].say)
			assert_null(o.notes);
		else
			assert_memory_equal(o.notes, some[i].say, strlen(some[i].say));
	}
	assert_int_equal(WITH("tcp,v3,mpa_crc,idmap=name"), 0);
	assert_string_equal(o.notes, "option idmap has no effect with vers=3\n"
				     "option mpa_crc has no effect with proto=tcp");
}

static void locks_may_be_local(void **state)
{
	static const struct {
		const char *list;
		bool posix, flock;
	} good[] = {
		{"lock", false, false},
		{"nolock", true, true},
		{"local_lock=all", true, true},
		{"local_lock=posix", true, false},
		{"local_lock=flock", false, true},
		{"nolock,local_lock=none", true, true}, /* nfs(5) */
		{"local_lock=flock,lock", false, false},
	};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(WITH(good[i].list), 0);
		assert_int_equal(o.local_posix, good[i].posix);
		assert_int_equal(o.local_flock, good[i].flock);
	}
}

static void mount_for_nfs3_has_its_options(void **state)
{
	assert_int_equal(WITH("v3"), 0);
	assert_true(o.mountport == 0 && !o.mount_udp && !o.mounthost);
	assert_int_equal(
		WITH("mountport=20048,mountproto=udp,mountvers=3,mounthost=m,mountaddr=n"), 0);
	assert_true(o.mountport == 20048 && o.mount_udp);
	assert_string_equal(o.mounthost, "n");
	assert_int_equal(WITH("mountproto=udp,mountproto=tcp"), 0);
	assert_false(o.mount_udp);
}

static void help_and_version_need_nothing_else(void **state)
{
	assert_int_equal(PARSE("-h"), 0);
	assert_int_equal(o.action, OPTIONS_HELP);
	assert_int_equal(PARSE("--version"), 0);
	assert_int_equal(o.action, OPTIONS_VERSION);
}

static void sizes_have_suffixes(void **state)
{
	uint64_t v;

	assert_int_equal(option_size("3k", 0, UINT64_MAX, &v), 0);
	assert_true(v == 3072);
	assert_int_equal(option_size("2G", 0, UINT64_MAX, &v), 0);
	assert_true(v == 2ull << 30);
	assert_int_equal(option_size("", 0, 10, &v), -1);
	assert_int_equal(option_size("K", 0, 10, &v), -1);
	assert_int_equal(option_size("1KB", 0, 5000, &v), -1);
	assert_int_equal(option_size(" 1", 0, 10, &v), -1);
	assert_int_equal(option_size("18446744073709551615K", 0, UINT64_MAX, &v), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_bare_command_line_gives_defaults, finish),
		cmocka_unit_test_teardown(options_may_stand_anywhere, finish),
		cmocka_unit_test_teardown(all_values_are_taken, finish),
		cmocka_unit_test_teardown(versions_are_named_as_mount_nfs_does, finish),
		cmocka_unit_test_teardown(attributes_are_believed_as_long_as_nfs_says, finish),
		cmocka_unit_test_teardown(owners_may_be_names, finish),
		cmocka_unit_test_teardown(the_last_one_counts, finish),
		cmocka_unit_test_teardown(mount_options_are_passed_or_passed_over, finish),
		cmocka_unit_test_teardown(other_users_are_let_in, finish),
		cmocka_unit_test_teardown(ipv6_addresses_stand_in_brackets, finish),
		cmocka_unit_test_teardown(a_url_stands_for_options, finish),
		cmocka_unit_test_teardown(wrong_arguments_are_told, finish),
		cmocka_unit_test_teardown(wrong_options_are_named, finish),
		cmocka_unit_test_teardown(unknown_options_may_be_ignored, finish),
		cmocka_unit_test_teardown(options_of_nfs_carry_over, finish),
		cmocka_unit_test_teardown(a_first_mount_may_wait, finish),
		cmocka_unit_test_teardown(netids_choose_the_family, finish),
		cmocka_unit_test_teardown(unknown_options_are_told_or_passed_over, finish),
		cmocka_unit_test_teardown(contradictions_are_refused, finish),
		cmocka_unit_test_teardown(options_without_effect_are_named, finish),
		cmocka_unit_test_teardown(locks_may_be_local, finish),
		cmocka_unit_test_teardown(mount_for_nfs3_has_its_options, finish),
		cmocka_unit_test_teardown(help_and_version_need_nothing_else, finish),
		cmocka_unit_test_teardown(sizes_have_suffixes, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
