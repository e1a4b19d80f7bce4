-- SPDX-License-Identifier: GPL-2.0-or-later
-- SPDX-FileCopyrightText: The rnfs authors
--
-- Wireshark dissector of RPC-over-RDMA version 2 on iWARP: draft-ietf-nfsv4-rpcrdma-version-two of November 2019 and
-- draft-cel-nfsv4-rpcrdma-version-two-01 of 2016, both with draft-dnoveck-nfsv4-rpcrdma-rtrext-02. Version 1 is Wireshark's own
-- (rpcordma). Use:
--
--	tshark -X lua_script:rnfs-rpcrdma2.lua -o iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE \
--		--disable-heuristic smb_direct_iwarp -r FILE -Y rpcrdma2
--
-- or copy it into Wireshark's folder of personal Lua plugins (Help, About, Folders). The preference is to be off (Edit,
-- Preferences, Protocols, IWARP_DDP_RDMAP): while it is on, Wireshark 4.0 shows the first Send of each packet only. And SMB Direct
-- (Analyze, Enabled Protocols) takes short messages for its own. Sends in
-- several segments are put together here, which takes fields of the dissectors below that tshark does not make in the first of
-- two passes (-2) unless there is a filter (-Y); one pass is enough.
--
-- RPC messages go on to the rpc dissector: those that are whole in a Send, and those that go on in several. Of data that RDMA has
-- placed elsewhere zeros stand in the message, and rpcrdma2.zeros tells how many, since the dissectors above expect it there; a
-- message that is in a chunk as a whole is not shown.
--
-- How version 2 of 2019 carries the extension: header types and property ids of a private range.
local RTR_HTYPE = 0x52540000 -- + the number of the operation in table 4 of the extension
local RTR_PROPS = {[0x52540001] = 4} -- to its number in table 3

local MAX_MESSAGE = 16 * 1024 * 1024 -- bytes of a message that are put together

local proto = Proto("rpcrdma2", "RPC-over-RDMA version 2")

proto.prefs.dialect = Pref.enum("Version 2 is that of", 0, "Which text is meant by version number 2",
	{{1, "a guess", 0}, {2, "November 2019", 1}, {3, "2016", 2}}, false)
proto.prefs.zeros = Pref.bool("Put zeros in place of data that RDMA has placed", true,
	"Else a message that such data is missing from is not dissected further")

-- Fields -------------------------------------------------------------------------------------------

local HTYPES = {[0] = "RDMA2_MSG", [1] = "RDMA2_NOMSG", [4] = "RDMA2_ERROR", [5] = "RDMA2_CONNPROP"}
local HTYPES_2016 = {[0] = "RDMA2_MSG", [1] = "RDMA2_NOMSG", [4] = "RDMA2_ERROR", [5] = "RDMA2_OPTIONAL"}
local OPS = {[5] = "Transmit Request", [6] = "Transmit Response", [7] = "Transmit Continue", [8] = "Report Error"}
local DIRS = {[0] = "CALL", [1] = "REPLY"}
local ERRORS = {
	"RDMA2_ERR_VERS", "RDMA2_ERR_BAD_XDR", "RDMA2_ERR_INVAL_HTYPE", "RDMA2_ERR_INVAL_FLAG", "RDMA2_ERR_READ_CHUNKS",
	"RDMA2_ERR_WRITE_CHUNKS", "RDMA2_ERR_SEGMENTS", "RDMA2_ERR_WRITE_RESOURCE", "RDMA2_ERR_REPLY_RESOURCE", "RDMA2_ERR_SYSTEM",
}
local ERRORS_2016 = {"RDMA2_ERR_VERS", "RDMA2_ERR_BAD_HEADER", "RDMA2_ERR_INVAL_OPTION"}
local RTR_ERRORS = {
	"OPTRERR_BADHMT", "OPTRERR_BADOMT", "OPTRERR_BADCONT", "OPTRERR_BADSEQ", "OPTRERR_BADXID", "OPTRERR_BADOFF",
	"OPTRERR_BADTBSN", "OPTRERR_BADPL",
}
local PLACES = {"EXRW", "TBSN", "CHOICE", "BYSIZE", "TOOSHORT", "NOITEM"}
local REVERSE = {[0] = "none", [1] = "inline", [2] = "general"}
local ROPTS = {"Connection properties", "Request property", "Respond property", "Update property",
	"Transmit Request", "Transmit Response", "Transmit Continue", "Report Error"}

for op, name in pairs(OPS) do
	HTYPES[RTR_HTYPE + op] = name
end

local f = {}
local order = {}

local function field(key, make, name, label, ...)
	f[key] = make("rpcrdma2." .. name, label, ...)
	order[#order + 1] = f[key]
end

local U32, HEX, DEC = ProtoField.uint32, base.HEX, base.DEC

field("xid", U32, "xid", "XID", HEX)
field("vers", U32, "version", "Version", DEC)
field("credit", U32, "credit", "Credits", DEC)
field("granted", U32, "credit.granted", "Granted", DEC, nil, 0x0000ffff)
field("most", U32, "credit.most", "At most", DEC, nil, 0xffff0000)
field("htype", U32, "htype", "Header type", HEX, HTYPES)
field("proc", U32, "proc", "Procedure", DEC, HTYPES_2016)
field("flags", U32, "flags", "Flags", HEX)
field("response", ProtoField.bool, "flags.response", "RESPONSE", 32, nil, 0x00000001)
field("more", ProtoField.bool, "flags.more", "MORE", 32, nil, 0x00000002)
field("unknown_flags", U32, "flags.unknown", "Unknown", HEX, nil, 0xfffffffc)
field("dir", U32, "direction", "Direction", DEC, DIRS)
field("inv_handle", U32, "inv_handle", "Handle to invalidate", HEX)
field("opttype", U32, "opttype", "Operation", DEC, ROPTS)
field("optinfo", U32, "optinfo_length", "Bytes of what it says", DEC)
field("reads", ProtoField.none, "reads", "Read list")
field("writes", ProtoField.none, "writes", "Write list")
field("write", ProtoField.none, "write_chunk", "Write chunk")
field("reply", ProtoField.none, "reply_chunk", "Reply chunk")
field("position", U32, "position", "Position", DEC)
field("nsegs", U32, "segment_count", "Segments", DEC)
field("segment", ProtoField.none, "segment", "Segment")
field("handle", U32, "handle", "Handle", HEX)
field("length", U32, "length", "Length", DEC)
field("offset", ProtoField.uint64, "offset", "Offset", HEX)
field("err", U32, "error", "Error", DEC, ERRORS)
field("err_2016", U32, "error_2016", "Error", DEC, ERRORS_2016)
field("low", U32, "error.vers_low", "Lowest version", DEC)
field("high", U32, "error.vers_high", "Highest version", DEC)
field("max_chunks", U32, "error.max_chunks", "Chunks at most", DEC)
field("max_segments", U32, "error.max_segments", "Segments at most", DEC)
field("chunk_index", U32, "error.chunk_index", "Write chunk", DEC)
field("needed", U32, "error.length_needed", "Bytes needed", DEC)
field("nprops", U32, "prop_count", "Properties", DEC)
field("prop", ProtoField.none, "prop", "Property")
field("prop_id", U32, "prop.id", "Property", HEX)
field("prop_len", U32, "prop.length", "Bytes", DEC)
field("send_size", U32, "prop.send_size", "Maximum Send Size", DEC)
field("recv_size", U32, "prop.recv_size", "Receive Buffer Size", DEC)
field("seg_size", U32, "prop.seg_size", "Maximum RDMA Segment Size", DEC)
field("seg_count", U32, "prop.seg_count", "Maximum RDMA Segment Count", DEC)
field("reverse", U32, "prop.reverse", "Reverse Request Support", DEC, REVERSE)
field("auth", ProtoField.bytes, "prop.host_auth", "Host Authentication Message")
field("rtrs", U32, "prop.rtr_support", "RTR Support", HEX)
field("reqrxlim", U32, "prop.request_limit", "Request Transmission Receive Limit", DEC)
field("respsxlim", U32, "prop.response_limit", "Response Transmission Send Limit", DEC)
field("rbs_len", U32, "prop.rbs.length", "Receive Buffer Structure, bytes", DEC)
field("rbs_group", ProtoField.none, "prop.rbs.group", "Buffer segments")
field("rbs_count", U32, "prop.rbs.count", "How many", DEC)
field("rbs_size", U32, "prop.rbs.size", "Bytes of each", DEC)
field("rbs_align", U32, "prop.rbs.align", "Alignment", DEC)
field("rbs_flags", U32, "prop.rbs.flags", "Flags", HEX)
field("rbs_plt", ProtoField.bool, "prop.rbs.target", "A target of placement", 32, nil, 0x00000001)
field("prop_data", ProtoField.bytes, "prop.data", "Data")
field("item", ProtoField.none, "rtr.item", "Placed data")
field("disp", U32, "rtr.position", "Position", DEC)
field("item_len", U32, "rtr.length", "Length", DEC)
field("place", U32, "rtr.type", "Placement", DEC, PLACES)
field("bs_offset", U32, "rtr.offset", "Offset in the first buffer segment", DEC)
field("bs_count", U32, "rtr.bs_count", "Buffer segments", DEC)
field("bsnum", U32, "rtr.buffer_segment", "Buffer segment", DEC)
field("set", ProtoField.none, "rtr.set", "Directions for the response")
field("begin", U32, "rtr.begin", "From position", DEC)
field("upto", U32, "rtr.end", "To position", DEC)
field("minlen", U32, "rtr.min_length", "Of this length or more", DEC)
field("sizelim", U32, "rtr.by_size", "Size that decides", DEC)
field("xcount", U32, "rtr.count", "Transmissions", DEC)
field("rsbuf", U32, "rtr.response_count", "Transmissions of the response", DEC)
field("pslen", U32, "rtr.payload_length", "Bytes of payload stream", DEC)
field("xnum", U32, "rtr.number", "Transmission", DEC)
field("itype", U32, "rtr.first_type", "Type of the first", DEC, ROPTS)
field("rtr_err", U32, "rtr.error", "Error", DEC, RTR_ERRORS)
field("err_xid", U32, "rtr.error.xid", "XID", HEX)
field("seq", U32, "rtr.error.transmission", "Transmission", DEC)
field("expect", U32, "rtr.error.expected", "Expected", HEX)
field("current", U32, "rtr.error.actual", "There", HEX)
field("value", U32, "rtr.error.value", "Value", DEC)
field("min", U32, "rtr.error.min", "Lowest", DEC)
field("max", U32, "rtr.error.max", "Highest", DEC)
field("payload", ProtoField.bytes, "payload", "Payload")
field("placed", ProtoField.bytes, "placed", "Padding and placed data")
field("part", ProtoField.bytes, "part", "Part of a message")
field("reassembled", U32, "reassembled", "Message in several Sends, bytes", DEC)
field("zeros", U32, "zeros", "Zeros in place of data that RDMA has placed, bytes", DEC)
field("guessed", ProtoField.bool, "guessed", "The text was guessed")
proto.fields = order

local e_cut = ProtoExpert.new("rpcrdma2.cut_off", "The header is cut off", expert.group.MALFORMED, expert.severity.ERROR)
local e_wrong = ProtoExpert.new("rpcrdma2.wrong", "A value that may not be there", expert.group.MALFORMED, expert.severity.ERROR)
local e_error = ProtoExpert.new("rpcrdma2.is_error", "An error is reported", expert.group.RESPONSE_CODE, expert.severity.WARN)
local e_elsewhere = ProtoExpert.new("rpcrdma2.elsewhere", "The RPC message is in a chunk", expert.group.UNDECODED,
	expert.severity.NOTE)
proto.experts = {e_cut, e_wrong, e_error, e_elsewhere}

-- A cursor: what is read is shown below a tree, or below none --------------------------------------

local Cursor = {}
Cursor.__index = Cursor

local function cursor(tvb, pos, len)
	return setmetatable({tvb = tvb, pos = pos, len = len}, Cursor)
end

function Cursor:left()
	return self.len - self.pos
end

function Cursor:need(n)
	if n > self:left() then
		error({cut = true}, 0)
	end
end

function Cursor:wrong()
	error({wrong = true, pos = self.pos}, 0)
end

function Cursor:u32(tree, ...)
	self:need(4)
	local range = self.tvb(self.pos, 4)
	for _, field_ in ipairs({...}) do
		if tree then
			tree:add(field_, range)
		end
	end
	self.pos = self.pos + 4
	return range:uint()
end

function Cursor:u64(tree, field_)
	self:need(8)
	if tree then
		tree:add(field_, self.tvb(self.pos, 8))
	end
	self.pos = self.pos + 8
end

-- Is there one (more)?
function Cursor:present()
	local v = self:u32()
	if v > 1 then
		self.pos = self.pos - 4
		self:wrong()
	end
	return v == 1
end

-- A number of elements of at least `least` bytes.
function Cursor:count(tree, field_, least)
	local n = self:u32(tree, field_)
	if n > self:left() / least then
		self:wrong()
	end
	return n
end

-- What has been read since `from` becomes an item of its own; body(tree) reads it.
function Cursor:group(tree, field_, body)
	local from = self.pos
	local sub = tree and tree:add(field_, self.tvb(from, 0))
	local result = body(sub)
	if sub then
		sub:set_len(self.pos - from)
	end
	return result
end

-- Parts that several types have ---------------------------------------------------------------------

local function segment(c, tree)
	return c:group(tree, f.segment, function(sub)
		c:u32(sub, f.handle)
		local n = c:u32(sub, f.length)
		c:u64(sub, f.offset)
		if sub then
			sub:append_text(string.format(", %u bytes", n))
		end
		return n
	end)
end

-- The sum of their lengths.
local function segments(c, tree)
	local sum = 0
	for _ = 1, c:count(tree, f.nsegs, 16) do
		sum = sum + segment(c, tree)
	end
	return sum
end

-- r.reads: {{position, bytes}...}; r.writes: bytes of each Write chunk; r.reply: bytes.
local function lists(c, tree, r)
	r.reads, r.writes = {}, {}
	c:group(tree, f.reads, function(sub)
		while c:present() do
			local position = c:u32(sub, f.position)
			local n = segment(c, sub)
			local last = r.reads[#r.reads]
			if last and last[1] == position then
				last[2] = last[2] + n
			else
				r.reads[#r.reads + 1] = {position, n}
			end
		end
	end)
	c:group(tree, f.writes, function(sub)
		while c:present() do
			r.writes[#r.writes + 1] = c:group(sub, f.write, function(chunk)
				return segments(c, chunk)
			end)
		end
	end)
	if c:present() then
		r.reply = c:group(tree, f.reply, function(sub)
			return segments(c, sub)
		end)
	end
end

local function direction(c, tree, r)
	local v = c:u32(tree, f.dir)
	if v > 1 then
		c.pos = c.pos - 4
		c:wrong()
	end
	r.response = v == 1
end

-- The extension --------------------------------------------------------------------------------------

-- r.reads gets what is missing from the payload stream.
local function message_items(c, tree, r)
	r.reads = {}
	for _ = 1, c:count(nil, nil, 12) do
		c:group(tree, f.item, function(sub)
			local disp, n = c:u32(sub, f.disp), c:u32(sub, f.item_len)
			local type_ = c:u32(sub, f.place)
			if type_ == 1 then
				segments(c, sub)
			elseif type_ == 2 then
				c:u32(sub, f.bs_offset)
				for _ = 1, c:count(sub, f.bs_count, 4) do
					c:u32(sub, f.bsnum)
				end
			elseif type_ ~= 5 and type_ ~= 6 then
				c:wrong()
			end
			if type_ <= 2 then
				r.reads[#r.reads + 1] = {disp, n}
			end
		end)
	end
end

local function response_item(c, sub)
	c:u32(sub, f.minlen)
	local type_ = c:u32(sub, f.place)
	if type_ == 4 then
		c:u32(sub, f.sizelim)
	end
	if type_ == 1 or type_ == 3 or type_ == 4 then
		segments(c, sub)
	elseif type_ ~= 2 then
		c:wrong()
	end
end

local function response_sets(c, tree)
	for _ = 1, c:count(nil, nil, 12) do
		c:group(tree, f.set, function(sub)
			c:u32(sub, f.begin)
			c:u32(sub, f.upto)
			for _ = 1, c:count(nil, nil, 8) do
				response_item(c, sub)
			end
		end)
	end
end

local function transmission(c, tree)
	c:u32(tree, f.err_xid)
	if c:u32(tree, f.dir) > 1 then
		c:wrong()
	end
	c:u32(tree, f.seq)
end

local function rtr_error(c, tree)
	transmission(c, tree)
	if c:present() then
		transmission(c, tree)
	end
	local err = c:u32(tree, f.rtr_err)
	if err == 1 or err == 2 or err == 4 or err == 5 then
		c:u32(tree, f.expect)
		c:u32(tree, f.current)
	elseif err >= 6 and err <= 8 then
		c:u32(tree, f.value)
		c:u32(tree, f.min)
		c:u32(tree, f.max)
	elseif err ~= 3 then
		c:wrong()
	end
end

local function rtr(c, tree, r, op)
	if op == 5 or op == 6 then
		message_items(c, tree, r)
		if op == 5 then
			response_sets(c, tree)
		end
		r.group = c:u32(tree, f.xcount)
		if op == 5 then
			c:u32(tree, f.rsbuf)
		end
		r.stream = c:u32(tree, f.pslen)
	elseif op == 7 then
		r.group = 0
		c:u32(tree, f.xnum)
		c:u32(tree, f.itype)
		r.stream = c:u32(tree, f.pslen)
	else
		rtr_error(c, tree)
		r.error = true
	end
	r.name = OPS[op]
end

local function buffer_structure(c, tree)
	c:u32(tree, f.rbs_len)
	for _ = 1, c:count(nil, nil, 16) do
		c:group(tree, f.rbs_group, function(sub)
			c:u32(sub, f.rbs_count)
			c:u32(sub, f.rbs_size)
			c:u32(sub, f.rbs_align)
			c:u32(sub, f.rbs_flags, f.rbs_plt)
		end)
	end
end

-- Properties -----------------------------------------------------------------------------------------

local NUMBERS = {f.send_size, f.recv_size, f.seg_size, f.seg_count, f.reverse}
local RTR_NUMBERS = {f.recv_size, f.reverse, f.rtrs, nil, f.reqrxlim, f.respsxlim}

-- The value of a property, all of cursor c.
local function property(c, tree, id, extended)
	local number = extended and RTR_NUMBERS[id] or not extended and NUMBERS[id]
	if c:left() == 0 then -- the default
		if tree then
			tree:append_text(", the default")
		end
	elseif number then
		c:u32(tree, number)
	elseif not extended and id == 6 then
		local n = c:u32()
		c:need(n)
		if tree then
			tree:add(f.auth, c.tvb(c.pos, n))
		end
		c.pos = c.pos + n + -n % 4
	elseif extended and id == 4 or not extended and RTR_PROPS[id] == 4 then
		buffer_structure(c, tree)
	else
		if tree then
			tree:add(f.prop_data, c.tvb(c.pos, c:left()))
		end
		c.pos = c.len
	end
	if c:left() ~= 0 then
		c:wrong()
	end
end

local function properties(c, tree, extended)
	for _ = 1, c:count(tree, f.nprops, 8) do
		c:group(tree, f.prop, function(sub)
			local id, n = c:u32(sub, f.prop_id), c:u32(sub, f.prop_len)
			c:need(n)
			property(cursor(c.tvb, c.pos, c.pos + n), sub, id, extended)
			c:need(n + -n % 4)
			c.pos = c.pos + n + -n % 4
		end)
	end
	if c:left() ~= 0 then
		c:wrong()
	end
end

-- Headers ---------------------------------------------------------------------------------------------

local function error_2019(c, tree)
	local err = c:u32(tree, f.err)
	if err == 1 then
		c:u32(tree, f.low)
		c:u32(tree, f.high)
	elseif err == 5 or err == 6 then
		c:u32(tree, f.max_chunks)
	elseif err == 7 then
		c:u32(tree, f.max_segments)
	elseif err == 8 then
		c:u32(tree, f.chunk_index)
		c:u32(tree, f.needed)
	elseif err == 9 then
		c:u32(tree, f.needed)
	end
end

-- A message that an RPC message begins or goes on in.
local function conveys(c, r, htype)
	if htype == 1 then
		r.external = #r.reads > 0 or r.reply ~= nil
		if c:left() ~= 0 then
			c:wrong()
		end
	else
		c:need(4)
		r.stream = c:left()
	end
end

local function header_2019(c, tree, r, middle)
	local flags_tree
	local flags = c:u32()
	if tree then
		flags_tree = tree:add(f.flags, c.tvb(c.pos - 4, 4))
		for _, flag in ipairs({f.response, f.more, f.unknown_flags}) do
			flags_tree:add(flag, c.tvb(c.pos - 4, 4))
		end
	end
	r.response = flags % 2 == 1
	r.more = math.floor(flags / 2) % 2 == 1
	if r.htype <= 1 then
		c:u32(tree, f.inv_handle)
		lists(c, tree, r)
		conveys(c, r, r.htype)
	elseif r.htype == 4 then
		error_2019(c, tree)
		r.error = true
	elseif r.htype == 5 and not r.more and not middle then
		properties(c, tree, false)
	elseif HTYPES[r.htype] and r.htype > 5 then
		rtr(c, tree, r, r.htype - RTR_HTYPE)
	else
		r.unknown = not HTYPES[r.htype]
	end
end

local function optional(c, tree, r)
	direction(c, tree, r)
	local op, n = c:u32(tree, f.opttype), c:u32(tree, f.optinfo)
	c:need(n)
	local info = cursor(c.tvb, c.pos, c.pos + n)
	r.name = "RDMA2_OPTIONAL"
	if OPS[op] then
		rtr(info, tree, r, op)
		if info:left() ~= 0 then
			info:wrong()
		end
	elseif op == 1 then
		properties(info, tree, true)
	else
		r.unknown = not ROPTS[op]
	end
	c:need(n + -n % 4)
	c.pos = c.pos + n + -n % 4
end

local function header_2016(c, tree, r)
	if r.htype <= 1 then
		direction(c, tree, r)
		lists(c, tree, r)
		conveys(c, r, r.htype)
	elseif r.htype == 4 then
		r.response, r.error = true, true
		if c:u32(tree, f.err_2016) == 1 then
			c:u32(tree, f.low)
			c:u32(tree, f.high)
		end
	elseif r.htype == 5 then
		optional(c, tree, r)
	else
		r.unknown = true
	end
end

-- Reads what follows the four fixed words. What is left of c is the payload.
local function header(c, tree, r, text, middle)
	if text == 2016 then
		header_2016(c, tree, r)
	else
		header_2019(c, tree, r, middle)
	end
	if r.stream and r.stream > c:left() then
		c:wrong()
	end
end

-- Does the message come out even in this text? Its RPC message begins where its lists end, or nothing is left.
local function comes_out(tvb, xid, htype, text, middle)
	local c, r = cursor(tvb, 16, tvb:len()), {htype = htype}
	if not pcall(header, c, nil, r, text, middle) or r.unknown then
		return false
	end
	if htype == 0 then
		return middle or tvb(c.pos, 4):uint() == xid
	end
	return c:left() == 0 or htype >= 5
end

-- RDMA_ERROR with ERR_VERS, of the form that all versions have.
local function is_err_vers(tvb, htype)
	if htype ~= 4 or tvb:len() ~= 28 or tvb(16, 4):uint() ~= 1 then
		return false
	end
	local code = tvb(20, 4):uint()
	return code < 5 or code > 9
end

-- Messages in several Sends ---------------------------------------------------------------------------

local pending, whole, spoken = {}, {}, {}
local segments_of, sends = {}, {}

function proto.init()
	pending, whole, spoken = {}, {}, {}
	segments_of, sends = {}, {}
end

-- The bytes of an RPC message of which this Send has a part, if it is complete with it; false if it is not; nil if it is all
-- in this Send. Decided when the packet is seen for the first time.
local function put_together(key, way, visited, r, bytes)
	if visited then
		return whole[key]
	end
	local p = pending[way]
	if p and p.xid ~= r.xid then
		p = nil
	end
	if not p then
		if not r.more and not (r.group and r.group > 1) then
			return nil
		end
		p = {xid = r.xid, parts = {}, size = 0, seen = 0, group = r.group, reads = r.reads}
	end
	p.seen = p.seen + 1
	p.size = p.size + #bytes
	if p.size <= MAX_MESSAGE then
		p.parts[#p.parts + 1] = bytes
	end
	if p.group and p.seen < p.group or not p.group and r.more then
		pending[way] = p
		whole[key] = false
		return false
	end
	pending[way] = nil
	if p.size > MAX_MESSAGE then
		whole[key] = false
		return false
	end
	if p.group then
		r.reads = p.reads
	end
	whole[key] = {bytes = table.concat(p.parts), reads = r.reads}
	return whole[key]
end

-- Data that is elsewhere --------------------------------------------------------------------------------

local function word(bytes, at)
	local a, b, c, d = bytes:byte(at + 1, at + 4)
	return ((a * 256 + b) * 256 + c) * 256 + d
end

-- Where in a reply the data of n bytes belongs that was written from offset `from` on: behind its length in the result of READ or
-- READLINK (RFC 8267). NFSv4: operation, status, end of file, length; NFSv3: count, end of file, length.
local function place_of(bytes, n, from)
	for at = from, #bytes - 4, 4 do
		if word(bytes, at) == n and at >= 12 then
			local before, before2, before3 = word(bytes, at - 4), word(bytes, at - 8), word(bytes, at - 12)
			if before <= 1 and (before2 == n or before2 == 0 and before3 == 25) or before == 0 and before2 == 27 then
				return at + 4
			end
		end
	end
end

-- {{position, bytes}...} of what is missing, nil if that cannot be known.
local function missing(bytes, r)
	if not r.response or not r.writes then
		return r.reads or {}
	end
	local list, from, before = {}, 0, 0
	for _, n in ipairs(r.writes) do
		if n > 0 then
			local at = place_of(bytes, n, from)
			if not at then
				return nil
			end
			list[#list + 1] = {at + before, n}
			from = at
			before = before + n + -n % 4
		end
	end
	return list
end

-- bytes with zeros where something is missing, and how many; nil if that is not possible.
local function fill(bytes, r)
	local list, zeros = missing(bytes, r), 0
	if not list then
		return nil
	end
	for _, item in ipairs(list) do
		local at, n = item[1], item[2] + -item[2] % 4
		zeros = zeros + n
		if at == 0 or at > #bytes or #bytes + n > MAX_MESSAGE then
			return nil
		end
		bytes = bytes:sub(1, at) .. string.rep("\0", n) .. bytes:sub(at + 1)
	end
	return bytes, zeros
end

-- The dissector ------------------------------------------------------------------------------------------

local rpc = Dissector.get("rpc")
local get_opcode = Field.new("iwarp_rdma.opcode")
local get_msn = Field.new("iwarp_ddp.msn")
local get_mo = Field.new("iwarp_ddp.mo")
local get_last = Field.new("iwarp_ddp.last_flag")

local function last(get)
	local all = {get()}
	return #all > 0 and all[#all].value or nil
end

-- What is malformed in it has been shown when the call fails.
local function to_rpc(tvb, pinfo, root)
	pcall(rpc.call, rpc, tvb, pinfo, root)
end

-- Hands on what an RPC message is made of.
local function payload(tvb, at, r, key, way, pinfo, tree, root)
	local range = tvb(at, r.stream)
	local found = put_together(key, way, pinfo.visited, r, range:raw())
	if found == false then
		tree:add(f.part, range)
		return
	end
	if found then
		tree:add(f.part, range)
		tree:add(f.reassembled, #found.bytes):set_generated()
		r.reads = found.reads
	elseif r.group == 0 or r.htype == 5 and not r.group then
		tree:add(f.part, range) -- what it continues was not seen
		return
	else
		tree:add(f.payload, range)
	end
	local bytes = found and found.bytes or range:raw()
	local filled, zeros = fill(bytes, r)
	if filled and zeros == 0 then
		if found then
			to_rpc(ByteArray.new(bytes, true):tvb("Message in several Sends"), pinfo, root)
		else
			to_rpc(range:tvb(), pinfo, root)
		end
	elseif filled and proto.prefs.zeros then
		tree:add(f.zeros, zeros):set_generated()
		to_rpc(ByteArray.new(filled, true):tvb("Message with zeros in place of data"), pinfo, root)
	else
		tree:add_proto_expert_info(e_elsewhere, "Some data of the RPC message is elsewhere")
	end
end

-- Which text, and whether that was guessed.
local function text_of(tvb, xid, htype, conn, middle)
	if proto.prefs.dialect ~= 0 then
		return proto.prefs.dialect == 2 and 2016 or 2019, false
	end
	local v2019, v2016 = comes_out(tvb, xid, htype, 2019, middle), comes_out(tvb, xid, htype, 2016, middle)
	if v2019 == v2016 then
		return spoken[conn] or 2019, not spoken[conn]
	end
	spoken[conn] = v2019 and 2019 or 2016
	return spoken[conn], false
end

local function fixed_words(c, tree, r, text)
	c:u32(tree, f.xid)
	c:u32(tree, f.vers)
	if text == 2016 then
		c:u32(tree, f.credit)
		c:u32(tree, f.proc)
	else
		c:u32(tree, f.credit, f.granted, f.most)
		c:u32(tree, f.htype)
	end
end

local function summary(r, text)
	local names = text == 2016 and HTYPES_2016 or HTYPES
	return string.format("%s%s XID 0x%08x", r.name or names[r.htype] or "unknown type",
		r.response and " response" or "", r.xid)
end

local function dissect(tvb, pinfo, root, conn, way, key)
	local r = {xid = tvb(0, 4):uint(), htype = tvb(12, 4):uint()}
	local middle = pending[way] and pending[way].xid == r.xid and not pending[way].group or
		pinfo.visited and whole[key] ~= nil
	local err_vers = is_err_vers(tvb, r.htype)
	local text, guessed = 2016, false
	if not err_vers then
		text, guessed = text_of(tvb, r.xid, r.htype, conn, middle)
	end
	local tree = root:add(proto, tvb())
	local c = cursor(tvb, 0, tvb:len())
	fixed_words(c, tree, r, text)
	if guessed then
		tree:add(f.guessed, true):set_generated()
	end
	local ok, why = pcall(header, c, tree, r, text, middle)
	pinfo.cols.protocol = "RPCoRDMA2"
	pinfo.cols.info:append(" " .. summary(r, text))
	tree:append_text(", " .. summary(r, text))
	if not ok then
		if type(why) ~= "table" then
			error(why, 0)
		end
		tree:add_proto_expert_info(why.cut and e_cut or e_wrong)
		return
	end
	tree:set_len(c.pos)
	if r.error then
		tree:add_proto_expert_info(e_error)
	end
	if r.external then
		tree:add_proto_expert_info(e_elsewhere)
	end
	local stream_end = c.pos + (r.stream or 0)
	if stream_end < tvb:len() then
		tree:add(r.htype == 5 and not r.stream and f.part or f.placed, tvb(stream_end))
	end
	if r.stream and r.stream > 0 then
		payload(tvb, c.pos, r, key, way, pinfo, tree, root)
	end
end

local SENDS = {[3] = true, [4] = true, [5] = true, [6] = true}

-- A Send in several segments, by direction and number: {bytes of its segments..., size = n}. Unless Wireshark has put it together:
-- then the last segment comes with all of it. The whole of it: its bytes if this segment is the last, false if it is not, nil if
-- it is the only one.
local function put_segments_together(tvb, pinfo, at, key)
	local mo, is_last = last(get_mo), last(get_last)
	if pinfo.visited or not mo then
		return sends[key]
	end
	local s = segments_of[at]
	if mo == 0 and not is_last then
		s = {size = 0}
		segments_of[at] = s
	end
	if not s or s.size ~= mo or s.size > MAX_MESSAGE then
		return nil
	end
	s[#s + 1] = tvb():raw()
	s.size = s.size + tvb:len()
	sends[key] = false
	if is_last then
		sends[key] = table.concat(s)
		segments_of[at] = nil
	end
	return sends[key]
end

-- A header of version 2 begins here. Without the fields of the dissectors below it must be whole, since RDMA Writes come here, too.
local function is_ours(tvb, conn, opcode)
	if tvb:len() < 16 or tvb(4, 4):uint() ~= 2 then
		return false
	end
	local xid, htype = tvb(0, 4):uint(), tvb(12, 4):uint()
	if opcode then
		return SENDS[opcode] and (spoken[conn] or HTYPES[htype]) ~= nil
	end
	return is_err_vers(tvb, htype) or comes_out(tvb, xid, htype, 2019, true) or comes_out(tvb, xid, htype, 2016, true)
end

local function heuristic(tvb, pinfo, root)
	local opcode = last(get_opcode)
	if opcode and not SENDS[opcode] or tvb:len() == 0 then
		return false
	end
	local from = string.format("%s %d", tostring(pinfo.src), pinfo.src_port)
	local to = string.format("%s %d", tostring(pinfo.dst), pinfo.dst_port)
	local way, conn = from .. " " .. to, from < to and from .. " " .. to or to .. " " .. from
	local key = string.format("%d %d %d", pinfo.number, tvb:offset(), tvb:len())
	local at = way .. " " .. tostring(last(get_msn))
	local ours = is_ours(tvb, conn, opcode)
	if not ours and sends[key] == nil and ((last(get_mo) or 0) == 0 or not segments_of[at]) then
		return false
	end
	local all = put_segments_together(tvb, pinfo, at, key)
	if all == false then
		local tree = root:add(proto, tvb())
		tree:append_text(", a segment of a Send")
		tree:add(f.part, tvb())
		return true
	end
	if all then
		tvb = ByteArray.new(all, true):tvb("Send in several segments")
	end
	if tvb:len() < 16 or not ours and not all then
		return false
	end
	dissect(tvb, pinfo, root, conn, way, key)
	return true
end

function proto.dissector(tvb, pinfo, root)
	heuristic(tvb, pinfo, root)
end

proto:register_heuristic("iwarp_ddp_rdmap", heuristic)
