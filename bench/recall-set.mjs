// A labelled set for recall, made by rule: 5,000 messages, half of them English and half Chinese, and 300 questions that each have one
// right answer. Nothing was tuned on it.
//
// Three kinds of questions, 100 each: `words` asks with words of the message in another order; `noise` with half of its words, one of
// them misspelt (or with half of its characters); `meaning` says the same with other words, except for the name of the team.
import { randomStream } from "../dist/inside/kernel/random.js";

const teams = {
  en: "Albatross Badger Cormorant Dolphin Egret Falcon Gannet Heron Ibis Jackdaw Kestrel Lapwing Marten Nightjar Osprey Petrel Quail Raven Starling Tern Umbrella Vulture Wagtail Xenops Yellowhammer".split(
    " ",
  ),
  zh: "青松 白桦 红枫 紫藤 银杏 海棠 腊梅 芙蓉 玉兰 丁香 石榴 垂柳 木槿 凌霄 杜鹃 茉莉 牡丹 芍药 百合 水仙 桂花 月季 山茶 合欢 梧桐".split(
    " ",
  ),
};

/** Subjects of a team's work, each with a synonym. */
const parts = {
  en: [
    ["billing service", "invoicing backend"],
    ["login page", "sign-in screen"],
    ["search index", "lookup catalogue"],
    ["mobile app", "phone client"],
    ["report generator", "summary builder"],
  ],
  zh: [
    ["计费服务", "账单后台"],
    ["登录页面", "认证界面"],
    ["搜索索引", "检索目录"],
    ["手机应用", "移动客户端"],
    ["报表模块", "统计组件"],
  ],
};

/** Statements about them, with the words of a question, and synonyms. */
const facts = {
  en: [
    ["stores its records in PostgreSQL with two replicas", "records PostgreSQL replicas", "which relational engine keeps the data"],
    ["was delayed because the vendor missed a deadline", "delayed vendor deadline", "why did it slip behind schedule"],
    ["crashes when the upload is larger than ten megabytes", "upload crashes megabytes", "failure with big files"],
    ["must encrypt every password before saving it", "encrypt password saving", "how are credentials protected"],
    ["answers in less than two hundred milliseconds", "answers milliseconds less", "response latency"],
    ["was rewritten in Rust to reduce memory usage", "rewritten Rust memory", "new programming language for a smaller footprint"],
    ["needs a review by the security group in March", "review security March", "spring audit of vulnerabilities"],
    ["sends a notification by email after each payment", "notification email payment", "message to customers once they are charged"],
    ["supports German, French and Japanese translations", "German French Japanese translations", "localisation into foreign tongues"],
    ["lost three engineers during the reorganisation", "engineers lost reorganisation", "staff departures after restructuring"],
    ["is deployed every Thursday from the main branch", "deployed Thursday branch", "weekly release day"],
    ["caches thumbnails for thirty minutes", "caches thumbnails minutes", "how long are preview images kept"],
    ["exceeded its budget by twelve percent", "exceeded budget percent", "overspending"],
    ["uses a queue to retry failed requests", "queue retry requests", "what happens to calls that did not succeed"],
    ["removed the experimental dark theme", "removed dark theme", "night colours are gone"],
    ["collects feedback from pilot customers in Norway", "feedback pilot customers Norway", "early users in Scandinavia"],
    ["documents its interface with OpenAPI", "documents interface OpenAPI", "machine readable contract of endpoints"],
    ["fails the accessibility test on small screens", "accessibility test small screens", "hard to use for disabled people on phones"],
    ["imports spreadsheets uploaded by accountants", "imports spreadsheets accountants", "bookkeepers bring in tables"],
    ["keeps an audit log for seven years", "audit log years", "retention of history for inspectors"],
  ],
  zh: [
    ["把订单数据保存在主从复制的数据库里", "数据库主从复制订单", "采购信息存放何处"],
    ["因为供应商延期而推迟上线", "供应商延期推迟", "发布为何变慢"],
    ["上传超过十兆的文件时会崩溃", "上传文件崩溃", "大附件导致故障"],
    ["保存之前必须加密用户密码", "加密用户密码", "口令如何保护"],
    ["平均响应时间小于两百毫秒", "响应时间毫秒", "速度有多快"],
    ["已经用新语言重写以减少内存占用", "重写减少内存", "改造后更省资源"],
    ["三月份需要安全小组审查", "安全小组审查三月", "春季漏洞检查"],
    ["每次付款后发送邮件通知", "付款邮件通知", "收费之后告知客户"],
    ["支持德语法语和日语翻译", "德语法语日语翻译", "多国语言本地化"],
    ["重组期间走了三位工程师", "重组三位工程师", "人员流失情况"],
    ["每周四从主分支部署", "周四主分支部署", "固定发布日期"],
    ["缩略图缓存三十分钟", "缩略图缓存分钟", "预览图片保留多久"],
    ["超出预算百分之十二", "超出预算百分之", "花费过多"],
    ["使用队列重试失败的请求", "队列重试请求", "调用不成功怎么办"],
    ["删除了试验性的深色主题", "删除深色主题", "夜间模式没有了"],
    ["正在收集挪威试点客户的反馈", "挪威试点客户反馈", "北欧早期用户意见"],
    ["用开放标准描述接口文档", "接口文档标准", "端点约定说明"],
    ["在小屏幕上没有通过无障碍测试", "小屏幕无障碍测试", "残疾人使用困难"],
    ["导入会计上传的电子表格", "导入会计电子表格", "财务人员提交表单"],
    ["审计日志保留七年", "审计日志七年", "历史档案存留期限"],
  ],
};

/** @returns messages `{ id, text }` and questions `{ text, answer, kind, language }` */
export function recallSet() {
  const messages = [];
  const questions = [];
  const random = randomStream("recall", "questions");
  for (const language of ["en", "zh"]) {
    const all = [];
    for (const team of teams[language]) {
      for (const part of parts[language]) {
        for (const fact of facts[language]) all.push({ id: `${language}${all.length}`, team, part, fact });
      }
    }
    for (const one of all) messages.push({ id: one.id, text: statement(language, one) });
    for (const kind of ["words", "noise", "meaning"]) {
      for (let n = 0; n < 50; n++) {
        const one = all[Math.floor(random() * all.length)];
        questions.push({ text: question(language, kind, one, random), answer: one.id, kind, language });
      }
    }
  }
  return { messages, questions };
}

function statement(language, { team, part, fact }) {
  return language === "en" ? `The ${part[0]} of team ${team} ${fact[0]}.` : `${team}团队的${part[0]}${fact[0]}。`;
}

function question(language, kind, one, random) {
  const { team, part, fact } = one;
  switch (kind) {
    case "words":
      return language === "en" ? `${fact[1]}: ${part[0]}, ${team}?` : `${fact[1]}，${team}，${part[0]}？`;
    case "meaning":
      return language === "en" ? `${fact[2]}, ${part[1]} of ${team}?` : `${team}的${part[1]}，${fact[2]}？`;
    default:
      return noisy(language, statement(language, one), random);
  }
}

/** Half of the words, one of them misspelt; or half of the characters, in stretches of two. */
function noisy(language, text, random) {
  const units = language === "en" ? text.split(" ") : text.match(/.{1,2}/gu);
  const kept = units.filter(() => random() < 0.5);
  if (language === "zh") return kept.join("");
  const long = kept.findIndex((word) => word.length > 5);
  if (long !== -1) kept[long] = kept[long].slice(0, 2) + kept[long].slice(3);
  return kept.join(" ");
}
